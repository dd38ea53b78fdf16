import type { AddressInfo } from 'node:net'
import PostalMime, { type Email } from 'postal-mime'
import { SMTPServer } from 'smtp-server'

/** A mail server of a test's own on this machine. */
export interface MailServer {
  readonly url: string
  readonly port: number
  /** What it took, in order. */
  readonly taken: readonly { readonly to: readonly string[]; readonly raw: string; readonly mail: Email }[]
  /** Makes it refuse every mail with this answer; null takes mail again. */
  refuse: (answer: { code: number; text: string } | null) => void
}

interface Test {
  readonly teardown: (end: () => unknown) => void
}

/** Starts a mail server; it ends with the test. */
export async function startMailServer(t: Test, port = 0): Promise<MailServer> {
  const taken: { to: string[]; raw: string; mail: Email }[] = []
  let refusal: { code: number; text: string } | null = null
  const server = new SMTPServer({
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
  // A client that is killed breaks its connection.
  server.on('error', () => undefined)
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve))
  t.teardown(() => new Promise<void>((resolve) => server.close(resolve)))
  const { port: own } = server.server.address() as AddressInfo
  return {
    url: `smtp://127.0.0.1:${own}`,
    port: own,
    taken,
    refuse: (answer) => {
      refusal = answer
    },
  }
}
