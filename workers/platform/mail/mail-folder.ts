import { mkdir, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Config } from '#shared/platform/kernel/config.ts'
import { privateFile, privateFolder } from '#shared/platform/kernel/process/private-files.ts'
import type { OutboxMail } from '#shared/platform/mail/store.ts'
import type { Composed } from '#workers/platform/mail/compose.ts'

/**
 * Writes a mail as an .eml file below DATA_DIR/mail. The file's name is the mail's creation time, to the microsecond, and its id, so names
 * sort by time and a repeated call writes the same file.
 */
export async function keepInFolder({ dataDir }: Config, mail: OutboxMail, { bytes }: Composed): Promise<void> {
  const folder = join(dataDir, 'mail')
  await mkdir(folder, { recursive: true, mode: privateFolder })
  const file = join(folder, `${mail.created_at.replaceAll(':', '')}-${mail.id}.eml`)
  await writeFile(`${file}.part`, bytes, { mode: privateFile })
  await rename(`${file}.part`, file)
}
