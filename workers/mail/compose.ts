import { createTransport, type SendMailOptions } from 'nodemailer'
import { encodeWord } from 'nodemailer/lib/mime-funcs'
import { messageKind } from '#shared/mail/mail.ts'
import type { OutboxMail } from '#shared/mail/store.ts'
import type { Way } from '#workers/mail/ways.ts'

/** A mail as it goes over the wire, and between which addresses. */
export interface Composed {
  readonly bytes: Buffer
  readonly envelope: { readonly from: string | false; readonly to: string[] }
}

/**
 * What a signature covers. Both headers of one-click unsubscribing must be among them (RFC 8058, section 4), or mail programs show no
 * button for it; nodemailer's own list lacks the second.
 */
const signedHeaders = [
  ...['From', 'Sender', 'Reply-To', 'To', 'Cc', 'Subject', 'Date', 'Message-ID', 'In-Reply-To', 'References', 'MIME-Version'],
  ...['Content-Type', 'Content-Transfer-Encoding', 'Auto-Submitted', 'List-Id', 'List-Unsubscribe', 'List-Unsubscribe-Post'],
].join(':')

/** Writes a mail out and signs it, under the same Message-ID and date however often it is done. */
export async function compose(mail: OutboxMail, { from, dkim }: Way, publicUrl: string): Promise<Composed> {
  const signature = dkim && {
    dkim: { domainName: dkim.domain, keySelector: dkim.selector, privateKey: dkim.privateKey, headerFieldNames: signedHeaders },
  }
  const transport = createTransport({ streamTransport: true, buffer: true, newline: 'windows' })
  const { message, envelope } = await transport.sendMail({ ...messageOf(mail, from, publicUrl), ...signature })
  return { bytes: message as Buffer, envelope: { from: envelope.from, to: [...envelope.to] } }
}

/** Header of mail that Kontor writes itself: vacation notices and the like do not answer it (RFC 3834). */
const unattended = { 'Auto-Submitted': 'auto-generated' }

function messageOf(mail: OutboxMail, from: Way['from'], publicUrl: string): SendMailOptions {
  return {
    from: typeof from === 'string' ? from : { ...from, name: asTyped(from.name) },
    to: { name: '', address: mail.recipient },
    subject: asTyped(mail.subject),
    ...(mail.body_text === '' && mail.body_html !== null ? {} : { text: mail.body_text }),
    ...(mail.body_html === null ? {} : { html: mail.body_html }),
    ...(mail.calendar ? { icalEvent: { ...mail.calendar, filename: false } } : {}),
    headers: { ...(mail.kind === messageKind ? {} : unattended), ...mail.headers },
    date: new Date(mail.created_at),
    messageId: `<${mail.id}@${new URL(publicUrl).hostname}>`,
    disableFileAccess: true,
    disableUrlAccess: true,
  }
}

/** Text that looks like encoded words already, which nodemailer would leave for receivers to decode, is encoded to be shown as it stands. */
const asTyped = (text: string): string => (text.includes('=?') ? encodeWord(text, 'B', 52) : text)
