import { mkdir, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createTransport, type SendMailOptions } from 'nodemailer'
import type { Config } from '#shared/kernel/config.ts'
import type { OutboxMail } from '#shared/mail/store.ts'

/** How long a mail server may stay silent, in milliseconds: to connect, to greet, and between two answers. */
const silence = { connectionTimeout: 10_000, greetingTimeout: 10_000, socketTimeout: 30_000, dnsTimeout: 10_000 }

/** Hands a mail to the server of SMTP_URL, or writes it as an .eml file below DATA_DIR/mail without one. Throws what the server says. */
export async function deliver(config: Config, mail: OutboxMail): Promise<void> {
  const message = messageOf(config, mail)
  if (config.smtpUrl === null) return writeFileOf(config, mail, message)
  // A connection for each mail: no idle connection to keep alive, to find dead, or to close at the end.
  await createTransport({ url: config.smtpUrl, ...silence }).sendMail(message)
}

function messageOf(config: Config, mail: OutboxMail): SendMailOptions {
  return {
    from: config.mailFrom,
    to: { name: '', address: mail.recipient },
    subject: mail.subject,
    text: mail.body_text,
    ...(mail.body_html === null ? {} : { html: mail.body_html }),
    ...(mail.calendar ? { icalEvent: { ...mail.calendar, filename: false } } : {}),
    headers: { ...mail.headers },
    date: new Date(mail.created_at),
    messageId: `<${mail.id}@${new URL(config.publicUrl).hostname}>`,
    disableFileAccess: true,
    disableUrlAccess: true,
  }
}

/** The file's name says when the mail was written and which it is, so that trying again writes the same file. */
async function writeFileOf({ dataDir }: Config, mail: OutboxMail, message: SendMailOptions): Promise<void> {
  const built = await createTransport({ streamTransport: true, buffer: true, newline: 'windows' }).sendMail(message)
  const folder = join(dataDir, 'mail')
  await mkdir(folder, { recursive: true, mode: 0o700 })
  const file = join(folder, `${mail.created_at.slice(0, 19).replaceAll(':', '')}Z-${mail.id}.eml`)
  await writeFile(`${file}.part`, built.message as Buffer, { mode: 0o600 })
  await rename(`${file}.part`, file)
}
