import { mkdir, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Config } from '#shared/kernel/config.ts'
import { privateFile, privateFolder } from '#shared/kernel/private-files.ts'
import type { OutboxMail } from '#shared/mail/store.ts'
import type { Composed } from '#workers/mail/compose.ts'

/**
 * Writes a mail as an .eml file below DATA_DIR/mail. The file's name says when the mail was written, to the microsecond, and which it is, so
 * that names are in the mails' order, and doing it again writes the same file.
 */
export async function keepInFolder({ dataDir }: Config, mail: OutboxMail, { bytes }: Composed): Promise<void> {
  const folder = join(dataDir, 'mail')
  await mkdir(folder, { recursive: true, mode: privateFolder })
  const file = join(folder, `${mail.created_at.replaceAll(':', '')}-${mail.id}.eml`)
  await writeFile(`${file}.part`, bytes, { mode: privateFile })
  await rename(`${file}.part`, file)
}
