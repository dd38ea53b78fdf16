import type { AddressInfo } from 'node:net'
import test, { type ExecutionContext } from 'ava'
import { SMTPServer } from 'smtp-server'
import { connect, made, read, sender } from '#test/features/messages/support.ts'
import { world } from '#test/support/world.ts'

/** A mail server that takes this password alone, and mail only from who has given it under TLS. */
async function startStrictServer(t: ExecutionContext, secure: boolean) {
  const taken: string[] = []
  const server = new SMTPServer({
    secure,
    logger: false,
    onAuth: ({ username, password }, session, done) =>
      session.secure && username === 'shop' && password === 'hush' ? done(null, { user: username }) : done(new Error('wrong')),
    onData: (stream, session, done) => {
      stream
        .on('data', () => undefined)
        .on('end', () => {
          if (session.user && session.secure) taken.push(session.envelope.rcptTo[0]?.address ?? '')
          done()
        })
    },
  })
  server.on('error', () => undefined)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.teardown(() => new Promise<void>((resolve) => server.close(resolve)))
  return { taken, port: (server.server.address() as AddressInfo).port }
}

test('tls: a connection uses TLS from the first byte or by STARTTLS, and signs in', async (t) => {
  const [secure, later] = [await startStrictServer(t, true), await startStrictServer(t, false)]
  const w = await world({ EGRESS_ALLOW: `127.0.0.1:${secure.port},127.0.0.1:${later.port}`, LOG_LEVEL: 'silent' })
  t.teardown(w.close)
  const send = await sender(t, w.org)
  const check = async (id: string) => made(w.org.owner.post(`${w.org.path}/messages/connections/${id}/test`))
  for (const [server, isSecure] of [
    [secure, true],
    [later, false],
  ] as const) {
    const { id } = await connect(w.org, server.port, { secure: isSecure, username: 'shop', password: 'hush' })
    t.like(await check(id), { status: 'ok', error: null })
    const { message_id } = await send({ connection_id: id, to: 'ann@example.com', subject: 'A', body_text: 'B' })
    await w.drain()
    t.is((await read(w.org, message_id)).status, 'sent')
    t.deepEqual(server.taken, ['ann@example.com'])
    const wrong = await connect(w.org, server.port, { secure: isSecure, username: 'shop', password: 'wrong' })
    const failed = await check(wrong.id)
    t.is(failed.status, 'failed')
    t.regex(failed.error, /535/)
  }
  const mixedUp = await connect(w.org, later.port, { secure: true })
  t.is((await check(mixedUp.id)).status, 'failed')
})
