import { mkdir, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Config } from '#shared/platform/kernel/config.ts'
import { privateFileMode, privateFolderMode } from '#shared/platform/kernel/process/private-files.ts'
import type { OutboxMail } from '#shared/platform/mail/store.ts'
import type { ComposedMail } from '#workers/platform/mail/compose.ts'

/**
 * Writes a mail as an .eml file below DATA_DIR/mail. The file's name is the mail's creation time, to the microsecond, and its id, so names
 * sort by time and a repeated call writes the same file.
 */
export async function saveMailToFolder({ dataDir }: Config, mail: OutboxMail, { bytes }: ComposedMail): Promise<void> {
  const folder = join(dataDir, 'mail')
  await mkdir(folder, { recursive: true, mode: privateFolderMode })
  const file = join(folder, `${mail.created_at.replaceAll(':', '')}-${mail.id}.eml`)
  await writeFile(`${file}.part`, bytes, { mode: privateFileMode })
  await rename(`${file}.part`, file)
}
