import { once } from 'node:events'
import { Readable } from 'node:stream'
import { setImmediate, setTimeout } from 'node:timers/promises'
import { partAwayOf } from '#shared/platform/db/database-errors.ts'
import { exchangeTcp } from '#shared/platform/egress/tcp.ts'
import { classifyFailure, type DeliveryOutcome } from '#shared/platform/mail/delivery-outcome.ts'
import type { ComposedMail } from '#workers/platform/mail/compose.ts'
import { SMTPConnection } from '#workers/platform/mail/nodemailer-internals.ts'
import type { MailServer } from '#workers/platform/mail/transports.ts'

/** Timeouts in milliseconds for connecting, for the greeting and between two answers. */
const silenceTimeouts = { connectionTimeout: 20_000, greetingTimeout: 20_000, socketTimeout: 60_000 }
/** Timeout of a whole delivery in milliseconds. */
const deliveryTimeoutMs = 150_000
/** Maximum number of bytes that a mail server may send to us in one delivery. */
const maxBytes = 256 * 1024
/** Timeout for the reply to QUIT in milliseconds; the result does not depend on it. */
const quitTimeoutMs = 1_000

/** An SMTP session to open: the server, our name for EHLO, and the timeout. */
interface SessionOptions {
  readonly server: MailServer
  readonly name: string
  readonly timeoutMs: number
  readonly signal: AbortSignal
}

/**
 * Connects, greets, starts TLS and authenticates, calls `work` with the server's reply to EHLO, and quits. Throws the server's errors.
 */
function inSession<T>(
  { server, name, timeoutMs, signal }: SessionOptions,
  work: (connection: SMTPConnection, ehloReply: string) => Promise<T>,
): Promise<T> {
  const { dialer, host, port, auth, ...options } = server
  // The dialer opens plain TCP; nodemailer starts TLS on it, and checks the certificate against the server's name.
  return exchangeTcp(dialer, { host, port, tls: false, timeoutMs, maxBytes, signal }, async (socket) => {
    const connection = new SMTPConnection({ ...options, ...silenceTimeouts, host, port, name, connection: socket, logger: false })
    const failing = Promise.withResolvers<never>()
    failing.promise.catch(() => undefined)
    connection.on('error', failing.reject)
    const broken = failing.promise
    try {
      await Promise.race([promisify((done) => connection.connect(done)), broken])
      const ehloReply = String(connection.lastServerResponse)
      if (auth) await Promise.race([promisify((done) => connection.login(auth, done)), broken])
      const result = await Promise.race([work(connection, ehloReply), broken])
      await quit(connection)
      return result
    } finally {
      connection.close()
    }
  })
}

/** Tests a server by authenticating and quitting. Throws the server's errors. */
export const testServer = (visit: SessionOptions): Promise<void> => inSession(visit, async () => undefined)

/** The keyword of a reply to EHLO by which a server offers RFC 6531. */
const offersUtf8 = /^250[ -]SMTPUTF8\b/im

/**
 * Whether a mail needs a server that offers SMTPUTF8 (RFC 6531): an address of its envelope, or a header, is not ASCII. Composed addresses
 * whose domain alone is not have it in punycode.
 */
function needsUtf8({ bytes, envelope }: ComposedMail): boolean {
  const headers = bytes.subarray(0, Math.max(0, bytes.indexOf('\r\n\r\n')))
  return headers.some((byte) => byte > 0x7f) || [envelope.from || '', ...envelope.to].some((address) => /[^\0-\x7f]/.test(address))
}

const utf8Refusal = {
  kind: 'final',
  status: 'failed',
  error: 'an address of the mail has letters beyond ASCII before its @, and the mail server does not offer SMTPUTF8 (RFC 6531)',
} as const

/**
 * Delivers a mail to a server. Calls `begin` when the server is ready, and returns undefined when it answers false. The body is a stream,
 * which distinguishes a connection that breaks after the whole body was sent from one that breaks before; nodemailer reports both alike.
 */
export async function deliverMail(
  server: MailServer,
  name: string,
  mail: ComposedMail,
  signal: AbortSignal,
  begin: () => Promise<boolean>,
): Promise<DeliveryOutcome | undefined> {
  const { bytes, envelope } = mail
  let isNamed = false
  let isBodySent = false
  let isAccepted = false
  try {
    return await inSession(
      { server, name, timeoutMs: deliveryTimeoutMs, signal },
      async (connection, ehloReply): Promise<DeliveryOutcome | undefined> => {
        isNamed = true
        if (!(await begin())) return undefined
        if (needsUtf8(mail) && !offersUtf8.test(ehloReply)) return utf8Refusal
        const body = Readable.from(streamBody(bytes)).once('end', () => {
          isBodySent = true
        })
        await promisify((done) => connection.send({ ...envelope, size: bytes.length }, body, done))
        isAccepted = true
        return { kind: 'sent' }
      },
    )
  } catch (error) {
    // Not the server is away, but the database that `begin` needs.
    if (!isAccepted && partAwayOf(error)) throw error
    // The server accepted the mail; a connection that breaks afterwards does not matter.
    return isAccepted ? { kind: 'sent' } : classifyFailure(error, isNamed, isBodySent)
  }
}

const pieceBytes = 64 * 1024
/** Size of the withheld end of a mail; without it no server accepts the mail. */
const withheldBytes = 2
/** How long the end is withheld after the rest was sent, in milliseconds. */
const withheldMs = 25

/**
 * Yields a mail's bytes, the last two 25 ms after the others. When the server reports an error or closes the connection during that time,
 * the mail is known not to have arrived; without the delay a mail of some kilobytes would be sent completely before any error is received.
 */
async function* streamBody(bytes: Buffer): AsyncGenerator<Buffer> {
  const end = bytes.length - withheldBytes
  for (let at = 0; at < end; at += pieceBytes) yield bytes.subarray(at, Math.min(at + pieceBytes, end))
  await setTimeout(withheldMs)
  // Let the event loop read everything that has arrived, even in a busy process.
  for (let tick = 0; tick < 3; tick++) await setImmediate()
  yield bytes.subarray(end)
}

const promisify = (call: (done: (error?: Error | null) => void) => void): Promise<void> =>
  new Promise((resolve, reject) => call((error) => (error ? reject(error) : resolve())))

async function quit(connection: SMTPConnection): Promise<void> {
  const patience = AbortSignal.timeout(quitTimeoutMs)
  connection.quit()
  await once(connection, 'end', { signal: patience }).catch(() => undefined)
}
