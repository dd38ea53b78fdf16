import { connect } from 'node:net'
import test, { type ExecutionContext } from 'ava'
import { type Api, startApi } from '#api/server.ts'
import { maxStreams } from '#shared/platform/events/streams-store.ts'
import { createLogger } from '#shared/platform/kernel/log.ts'
import { follow, listedOf, received } from '#test/core/events/following.ts'
import { lastSeq } from '#test/core/events/reading.ts'
import { countPlaces, expirePlaces, numberEvent, takePlaces } from '#test/core/events/rows.ts'
import { ended } from '#test/support/event-stream.ts'
import { eventually } from '#test/support/eventually.ts'
import { createMember } from '#test/support/factories.ts'
import { runMaintenanceTask } from '#test/support/maintenance.ts'
import { startSecondApi } from '#test/support/second-api.ts'
import { shareWorld } from '#test/support/shared-world.ts'
import type { World } from '#test/support/world.ts'

const shared = shareWorld(test)

const everything = [{ effect: 'allow', actions: ['*'], resources: ['*'] }]

test('stream limits: a workspace has 50 at a time over all processes, each free again when it ends', async (t) => {
  const w = await shared()
  const second = await startSecondApi(t, w)
  const { owner } = w.org
  const at = (index: number) => ({ root: index % 2 === 0 ? w.visitor.root : second.root, token: owner.token })
  const streams = await Promise.all(Array.from({ length: maxStreams + 10 }, (_, index) => follow(t, w, at(index))))
  const open = streams.filter(({ answer }) => answer.statusCode === 200)
  const refused = streams.filter(({ answer }) => answer.statusCode === 429)
  t.deepEqual([open.length, refused.length], [50, 10])
  for (const { answer } of refused) t.is(answer.headers['retry-after'], '30')
  t.is(await countPlaces(w), 50)
  const { status, body } = await owner.get(`${w.org.path}/events`, { accept: 'text/event-stream' })
  t.is(status, 429)
  t.regex(body.error.message, /at most 50 streams/)
  t.is((await owner.get(`${w.org.path}/events`)).status, 200)
  open[0]?.cut()
  await eventually(async () => (await countPlaces(w)) === 49)
  const next = await follow(t, w, at(1))
  t.is(next.answer.statusCode, 200)
  for (const stream of [next, ...open]) stream.cut()
  await eventually(async () => (await countPlaces(w)) === 0)
})

test('stream limits: places of a process that died expire, and are removed', async (t) => {
  const w = await shared()
  const { owner } = w.org
  await takePlaces(w, 50)
  t.is((await follow(t, w, owner)).answer.statusCode, 429)
  await expirePlaces(w)
  const stream = await follow(t, w, owner)
  t.is(stream.answer.statusCode, 200)
  t.is(await countPlaces(w), 50)
  await runMaintenanceTask(w, 'sweep_event_streams')
  t.is(await countPlaces(w), 1)
  t.false(stream.hasEnded())
})

test('stream limits: a place is renewed while its stream is open, and a stream that lost its place ends', async (t) => {
  const w = await shared()
  let now = Date.now()
  const api = await start(t, w, {}, () => new Date(now))
  const stream = await follow(t, w, at(api, w))
  const other = await follow(t, w, at(api, w))
  t.is(await countPlaces(w), 2)
  now += 25_000
  await api.services.feedStreams.renew()
  now += 25_000
  await api.services.feedStreams.renew()
  t.is(await countPlaces(w), 2)
  t.deepEqual([stream.hasEnded(), other.hasEnded()], [false, false])
  await expirePlaces(w)
  await takePlaces(w, 50)
  await api.services.feedStreams.renew()
  await Promise.all([ended(stream), ended(other)])
  t.is(await countPlaces(w), 50, 'those of others stay')
})

test('stream limits: a process reads events once for all streams of a workspace', async (t) => {
  const w = await shared()
  const [first, ...others] = [
    w.org.owner,
    ...(await Promise.all(Array.from({ length: 3 }, () => createMember(w, w.org, everything)))).map((one) => one.client),
  ]
  const streams = [await follow(t, w, first ?? w.org.owner)]
  let statements = 0
  const count = () => {
    statements += 1
  }
  const { pool } = w.api.services.database
  pool.on('acquire', count)
  t.teardown(() => pool.off('acquire', count))
  const eventCount = 20
  const statementsOfEvents = async () => {
    const before = statements
    for (let number = 0; number < eventCount; number += 1) {
      const sent = await numberEvent(w, 'members.left')
      await eventually(() => streams.every((stream) => listedOf(stream).at(-1)?.id === sent))
    }
    return statements - before
  }
  const ofOne = await statementsOfEvents()
  streams.push(...(await Promise.all(Array.from({ length: 39 }, (_, index) => follow(t, w, others[index % others.length] ?? w.org.owner)))))
  const ofAll = await statementsOfEvents()
  t.true(ofAll < ofOne + 2 * eventCount, `${ofOne} statements for one stream, ${ofAll} for 40`)
})

test('stream limits: a server that stops ends its streams and frees their places; its readers go on at another', async (t) => {
  const w = await shared()
  const { owner, path } = w.org
  const api = await startApi(w.config, createLogger('stopping', 'error'))
  const stream = await follow(t, w, at(api, w))
  await owner.post(`${path}/records/locations`, { values: { name: 'a' } })
  await received(stream, 1)
  await api.stop(60_000)
  t.true(stream.hasEnded())
  t.true(stream.answer.complete)
  t.is(await countPlaces(w), 0)
  await owner.post(`${path}/records/locations`, { values: { name: 'b' } })
  const next = await follow(t, w, owner, '', { 'last-event-id': stream.events().at(-1)?.id ?? '' })
  await received(next, 1)
  t.like(listedOf(next)[0], { seq: await lastSeq(w), data: { after: { name: 'b' } } })
})

const times = { unreadMs: 500 }

test('stream limits: a reader that takes nothing is cut, and what it lacks is there for the next connection', async (t) => {
  const w = await shared()
  const api = await start(t, w, times)
  const [after, reads] = [await lastSeq(w), await follow(t, w, at(api, w), '?types=records.*')]
  const idle = await openUnread(t, w, api)
  await addLarge(w, 12)
  await received(reads, 12)
  await eventually(async () => (await countPlaces(w)) === 1)
  await eventually(idle.hasEnded)
  t.false(reads.hasEnded())
  const again = await follow(t, w, at(api, w), '?types=records.*', { 'last-event-id': `${after}` })
  await received(again, 12)
  t.deepEqual(listedOf(again), listedOf(reads))
})

test('stream limits: a reader for whom 16 MB wait is cut, and those who read get all of it', async (t) => {
  const w = await shared()
  const api = await start(t, w)
  const reads = await follow(t, w, at(api, w), '?types=records.*')
  const idle = await openUnread(t, w, api)
  await addLarge(w, 12)
  await received(reads, 12)
  t.false(idle.hasEnded(), '12 MB may wait')
  await addLarge(w, 18)
  await received(reads, 30)
  await eventually(idle.hasEnded, 5_000)
  await eventually(async () => (await countPlaces(w)) === 1)
})

const at = ({ port }: Api, { org }: World) => ({ root: `http://127.0.0.1:${port}`, token: org.owner.token })

async function start(t: ExecutionContext, w: World, streamTimes = {}, now?: () => Date): Promise<Api> {
  const api = await startApi(w.config, createLogger('other', 'error'), now, streamTimes)
  t.teardown(() => api.stop(1_000))
  return api
}

/** Opens a stream whose client reads its first bytes and then nothing. */
async function openUnread(t: ExecutionContext, { org }: World, { port }: Api): Promise<{ hasEnded: () => boolean }> {
  const socket = connect(port, '127.0.0.1')
  t.teardown(() => socket.destroy())
  let [isOpen, isEnded] = [false, false]
  socket.on('error', () => undefined)
  socket.once('data', () => {
    isOpen = true
    socket.pause()
  })
  socket.once('close', () => {
    isEnded = true
  })
  const head = ['GET', `${org.path}/events`, 'HTTP/1.1'].join(' ')
  socket.write(`${head}\r\nHost: a\r\nAccept: text/event-stream\r\nAuthorization: Bearer ${org.owner.token}\r\n\r\n`)
  await eventually(() => isOpen)
  // A socket that is not read learns of its end when it writes.
  return {
    hasEnded: () => {
      if (!isEnded) socket.write('\r\n')
      return isEnded
    },
  }
}

/** Creates records of almost a megabyte. */
async function addLarge({ org: { owner, path } }: World, count: number): Promise<void> {
  await owner.post(`${path}/types`, { key: 'texts', label: 'Texts' })
  for (let part = 0; part < 10; part += 1)
    await owner.post(`${path}/fields`, { entity_type: 'texts', key: `part_${part}`, label: `part ${part}`, type: 'text' })
  const values = Object.fromEntries(Array.from({ length: 10 }, (_, part) => [`part_${part}`, 'a'.repeat(95_000)]))
  for (let number = 0; number < count; number += 1) {
    const { status } = await owner.post(`${path}/records/texts`, { values })
    if (status !== 201) throw new Error(`A large record was answered by ${status}`)
  }
}
