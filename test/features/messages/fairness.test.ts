import { type AddressInfo, createServer, type Socket } from 'node:net'
import test from 'ava'
import { connect, made, sender } from '#test/features/messages/support.ts'
import { startMailServer } from '#test/platform/mail/smtp.ts'
import { eventually } from '#test/support/eventually.ts'
import { createOrg } from '#test/support/factories.ts'
import { world } from '#test/support/world.ts'

test('fairness: a server that does not answer delays only the messages of its own workspace', async (t) => {
  const waiting = new Set<Socket>()
  const silent = createServer((socket) => void waiting.add(socket.on('error', () => undefined)))
  await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve))
  const { port } = silent.address() as AddressInfo
  const server = await startMailServer(t)
  const w = await world({ EGRESS_ALLOW: `127.0.0.1:${port},127.0.0.1:${server.port}`, LOG_LEVEL: 'silent' })
  t.teardown(w.close)
  const other = await createOrg(w, 'Other')
  const stuck = await connect(w.org, port)
  const many = `async function handler(id) {
    for (let n = 0; n < 60; n++) await sdk.messages.send({ connection_id: id, to: 'a' + n + '@example.com', subject: 'A', body_text: 'B' })
  }`
  const { id } = await made(w.org.owner.post(`${w.org.path}/functions`, { name: 'Many', source: many, timeout_ms: 30_000 }))
  await made(w.org.owner.post(`${w.org.path}/functions/${id}/invoke`, { input: stuck.id }))
  await eventually(async () => waiting.size > 0)
  const quick = await connect(other, server.port)
  const send = await sender(t, other)
  await send({ connection_id: quick.id, to: 'bea@example.com', subject: 'A', body_text: 'B' })
  await eventually(async () => server.taken.length === 1)
  t.true(waiting.size > 0 && waiting.size <= 6, `${waiting.size} connections of one workspace are open`)
  await made(w.org.owner.delete(`${w.org.path}/messages/connections/${stuck.id}`))
  for (const socket of waiting) socket.destroy()
  silent.close()
  await w.drain()
})
