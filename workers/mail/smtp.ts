import { once } from 'node:events'
import { Readable } from 'node:stream'
import { setImmediate, setTimeout } from 'node:timers/promises'
import SMTPConnection from 'nodemailer/lib/smtp-connection'
import { exchangeTcp } from '#shared/egress/tcp.ts'
import { type Outcome, outcomeOf } from '#shared/mail/outcome.ts'
import type { Composed } from '#workers/mail/compose.ts'
import type { Server } from '#workers/mail/ways.ts'

/** How long a mail server may stay silent, in milliseconds: until it is connected, has greeted, and between two answers. */
const silence = { connectionTimeout: 20_000, greetingTimeout: 20_000, socketTimeout: 60_000 }
/** The clock over a whole delivery. */
const deliveryMs = 150_000
/** What a server may say in one delivery. */
const maxBytes = 256 * 1024
/** How long a server may take to say good-bye, which nothing hangs on. */
const goodbyeMs = 1_000

/** Which server is visited, under what name, and for how long at most. */
interface Visit {
  readonly server: Server
  readonly name: string
  readonly timeoutMs: number
  readonly signal: AbortSignal
}

/** Connects, greets, begins TLS and signs in; does the work, and leaves politely. Throws what the server says. */
function inSession<T>({ server, name, timeoutMs, signal }: Visit, work: (connection: SMTPConnection) => Promise<T>): Promise<T> {
  const { door, host, port, auth, ...options } = server
  // TLS is begun inside the connection: nodemailer knows the server's name.
  return exchangeTcp(door, { host, port, tls: false, timeoutMs, maxBytes, signal }, async (socket) => {
    const connection = new SMTPConnection({ ...options, ...silence, host, port, name, connection: socket, logger: false })
    const failing = Promise.withResolvers<never>()
    failing.promise.catch(() => undefined)
    connection.on('error', failing.reject)
    const broken = failing.promise
    try {
      await Promise.race([called((done) => connection.connect(done)), broken])
      if (auth) await Promise.race([called((done) => connection.login(auth, done)), broken])
      const result = await Promise.race([work(connection), broken])
      await leave(connection)
      return result
    } finally {
      connection.close()
    }
  })
}

/** Signs in at a server and leaves again. Throws what the server says. */
export const tryServer = (visit: Visit): Promise<void> => inSession(visit, async () => undefined)

/**
 * Hands a mail to a server, once `begin` has said that it may be: it is called when the server is ready for it. Undefined when it may not
 * be. The body goes as a stream, so that a connection that breaks after the last of it was taken is told from one that breaks before:
 * nodemailer reports the two alike.
 */
export async function handOver(
  server: Server,
  name: string,
  { bytes, envelope }: Composed,
  signal: AbortSignal,
  begin: () => Promise<boolean>,
): Promise<Outcome | undefined> {
  let isWhole = false
  let isOver = false
  try {
    return await inSession({ server, name, timeoutMs: deliveryMs, signal }, async (connection) => {
      if (!(await begin())) return undefined
      const body = Readable.from(piecesOf(bytes)).once('end', () => {
        isWhole = true
      })
      await called((done) => connection.send({ ...envelope, size: bytes.length }, body, done))
      isOver = true
      return { kind: 'sent' as const }
    })
  } catch (error) {
    // The server has taken it: that the connection broke afterwards changes nothing.
    return isOver ? { kind: 'sent' } : outcomeOf(error, isWhole)
  }
}

const pieceBytes = 64 * 1024
/** The end of a mail without which no server takes it. */
const heldBytes = 2
/** How long the end is held back once the rest has been sent, in milliseconds. */
const heldMs = 25

/**
 * The bytes of a mail, its end a moment after the rest: a server that breaks off in the midst of them is heard by then, and the mail is known
 * not to have arrived. Sent at once, a mail of some kilobytes is wholly out of our hands before anything can be heard.
 */
async function* piecesOf(bytes: Buffer): AsyncGenerator<Buffer> {
  const end = bytes.length - heldBytes
  for (let at = 0; at < end; at += pieceBytes) yield bytes.subarray(at, Math.min(at + pieceBytes, end))
  await setTimeout(heldMs)
  // Whatever has arrived meanwhile is read before this goes on, however busy the process was.
  for (let turn = 0; turn < 3; turn++) await setImmediate()
  yield bytes.subarray(end)
}

const called = (call: (done: (error?: Error | null) => void) => void): Promise<void> =>
  new Promise((resolve, reject) => call((error) => (error ? reject(error) : resolve())))

async function leave(connection: SMTPConnection): Promise<void> {
  const patience = AbortSignal.timeout(goodbyeMs)
  connection.quit()
  await once(connection, 'end', { signal: patience }).catch(() => undefined)
}
