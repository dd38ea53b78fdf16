import type { AddressInfo } from 'node:net'
import type { TestFn } from 'ava'
import PostalMime, { type Email } from 'postal-mime'
import { SMTPServer, type SMTPServerOptions } from 'smtp-server'
import { shareInThread } from '#test/support/share-in-thread.ts'

/** A mail server of the test on this machine. */
export interface MailServer {
  readonly url: string
  readonly port: number
  /** The accepted mails, in order. */
  readonly taken: readonly { readonly to: readonly string[]; readonly raw: string; readonly mail: Email }[]
  /** Makes it refuse every mail with this response; null accepts mail again. */
  refuse: (answer: { code: number; text: string } | null) => void
  /** Closes it before its test ends. */
  stop: () => Promise<void>
  /** Removes the accepted mails, and accepts mail again. */
  reset: () => void
}

interface Test {
  readonly teardown: (end: () => unknown) => void
}

/** One mail server for the tests of a file, or of all files of a thread that name the key. */
export function shareMailServer(test: TestFn, key?: string): () => Promise<MailServer> {
  const start = async () => {
    const ends: (() => unknown)[] = []
    const value = await startMailServer({ teardown: (end) => ends.push(end) })
    return { value, close: () => Promise.all(ends.map((end) => end())) }
  }
  return shareInThread(test, start, key)
}

/** Starts a mail server; it ends with the test. */
export async function startMailServer(t: Test, port = 0, options: SMTPServerOptions = {}): Promise<MailServer> {
  const taken: { to: string[]; raw: string; mail: Email }[] = []
  let refusal: { code: number; text: string } | null = null
  const server = new SMTPServer({
    ...options,
    authOptional: true,
    disabledCommands: ['STARTTLS'],
    logger: false,
    onData: (stream, session, done) => {
      const chunks: Buffer[] = []
      stream.on('data', (chunk: Buffer) => chunks.push(chunk))
      stream.on('end', async () => {
        if (refusal) return done(Object.assign(new Error(refusal.text), { responseCode: refusal.code }))
        const raw = Buffer.concat(chunks).toString()
        taken.push({ to: session.envelope.rcptTo.map(({ address }) => address), raw, mail: await PostalMime.parse(raw) })
        done()
      })
    },
  })
  // A killed client breaks its connection.
  server.on('error', () => undefined)
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve))
  let stopping: Promise<void> | undefined
  const stop = () => {
    stopping ??= new Promise<void>((resolve) => server.close(resolve))
    return stopping
  }
  t.teardown(stop)
  const { port: own } = server.server.address() as AddressInfo
  return {
    url: `smtp://127.0.0.1:${own}`,
    port: own,
    taken,
    stop,
    refuse: (answer) => {
      refusal = answer
    },
    reset: () => {
      taken.length = 0
      refusal = null
    },
  }
}
