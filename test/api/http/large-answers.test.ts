import { once } from 'node:events'
import { createServer } from 'node:http'
import { type AddressInfo, connect, type Socket } from 'node:net'
import test, { type ExecutionContext } from 'ava'
import { createGracefulClose } from '#api/http/graceful-close.ts'
import { othersCalled } from '#shared/platform/kernel/process/running-calls.ts'
import { addLongSubmissions } from '#test/api/lists/rows.ts'
import { eventually } from '#test/support/eventually.ts'
import { createOrg, type Org } from '#test/support/factories.ts'
import { made } from '#test/support/made.ts'
import { type World, world } from '#test/support/world.ts'

/** A workspace and the address of a page of its submissions, which has almost 10 MB. */
interface Long {
  readonly org: Org
  readonly page: string
}

async function makeLongPage(w: World): Promise<Long> {
  const org = await createOrg(w)
  const form = await made(org.owner.post(`${org.path}/forms`, { key: 'contact', name: 'Contact', fields: [] }))
  await addLongSubmissions(w.db, org.id, form.id)
  return { org, page: `${org.path}/forms/${form.id}/submissions?limit=200` }
}

/** Asks for a page and reads nothing of the answer but its first bytes. */
async function askWithoutReading(t: ExecutionContext, w: World, { page, org }: Long): Promise<Socket> {
  const socket = connect(w.api.port, '127.0.0.1')
  socket.on('error', () => undefined)
  t.teardown(() => socket.destroy())
  socket.write(`GET ${page} HTTP/1.1\r\nHost: k\r\nAuthorization: Bearer ${org.owner.token}\r\n\r\n`)
  await once(socket, 'readable')
  return socket
}

const statusOf = (socket: Socket): string => socket.read(12)?.toString().slice(9) ?? ''

test('large answers: clients that do not read hold the share of their owner and no more, in every list', async (t) => {
  const w = await world()
  t.teardown(w.close)
  const [attacker, victim] = [await makeLongPage(w), await makeLongPage(w)]
  await w.drain()
  await eventually(() => !othersCalled(attacker.org.ownerId))
  const sockets = await Promise.all([1, 2, 3, 4, 5].map(() => askWithoutReading(t, w, attacker)))
  t.deepEqual(sockets.map(statusOf).sort(), ['200', '200', '200', '503', '503'], 'three quarters of 32 MB')
  t.is((await victim.org.owner.withoutRetries().get(victim.page)).status, 200)

  // Another owner takes the last quarter, so the victim waits until an answer that is not read is cut off.
  const last = await w.api.services.answers.admit('another', 8_000_000, 'unread')
  t.teardown(() => last.end())
  t.is((await victim.org.owner.withoutRetries().get(victim.page)).status, 200)
  for (const socket of sockets) socket.resume()
  await eventually(() => sockets.some(({ closed }) => closed))
  await w.drain()
})

test('large answers: one that waits for others of its owner in vain is OVERLOADED, unless its work was committed', async (t) => {
  const w = await world()
  t.teardown(w.close)
  const { org, page } = await makeLongPage(w)
  const { path } = org
  const owner = org.owner.withoutRetries()
  const held = await Promise.all([1, 2, 3].map(() => w.api.services.answers.admit(`${org.ownerId}/x`, 8_000_000, 'unread')))
  const refused = await owner.get(page)
  t.like(refused, { status: 503, body: { error: { code: 'OVERLOADED' } } })
  t.is(refused.headers.get('retry-after'), '1')
  await made(owner.post(`${path}/types`, { key: 'logs', label: 'Logs' }))
  for (const key of ['one', 'two', 'three'])
    await made(owner.post(`${path}/fields`, { entity_type: 'logs', key, label: key, type: 'text' }))
  const body = 'x'.repeat(95_000)
  const created = await owner.post(`${path}/records/logs`, { values: { one: body, two: body, three: body } })
  t.is(created.status, 201)
  t.true(created.text.length > 256_000)
  t.is((await owner.get(`${path}/records/logs/${created.data.id}`)).status, 503)
  for (const answer of held) answer.end()
  t.is((await owner.get(page)).status, 200)
  await w.drain()
})

test('large answers: the connection of an answer that nobody reads ends', async (t) => {
  const { ServerResponse } = createGracefulClose({ unreadMs: 300 })
  const server = createServer({ ServerResponse }, (_, response) => response.end(Buffer.alloc(20_000_000)))
  server.listen(0, '127.0.0.1')
  t.teardown(() => server.close().closeAllConnections())
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const unread = connect(port, '127.0.0.1')
  unread.on('error', () => undefined)
  const isOver = once(unread, 'close')
  unread.write('GET / HTTP/1.1\r\nHost: k\r\n\r\n')
  await once(unread, 'readable')
  await eventually(async () => (await new Promise<number>((resolve) => server.getConnections((_, count) => resolve(count)))) === 0)
  unread.resume()
  await isOver
  t.true(unread.bytesRead < 20_000_000)
})
