import { randomUUID } from 'node:crypto'
import test from 'ava'
import { startApi } from '#api/server.ts'
import { createLogger } from '#shared/platform/kernel/log.ts'
import { follow, listedOf, received, seqsOf } from '#test/core/events/following.ts'
import { lastSeq, readAll, readPage } from '#test/core/events/reading.ts'
import { countPlaces, renewFeed } from '#test/core/events/rows.ts'
import { startNetwork } from '#test/faults/network.ts'
import { deleteEventsUpTo } from '#test/platform/events/rows.ts'
import { eventually } from '#test/support/eventually.ts'
import { createMember } from '#test/support/factories.ts'
import { startLogged } from '#test/support/logged-process.ts'
import { startSecondApi } from '#test/support/second-api.ts'
import { shareWorld } from '#test/support/shared-world.ts'
import type { World } from '#test/support/world.ts'

const shared = shareWorld(test)

const read = (more: object = {}) => ({ effect: 'allow', actions: ['records:read'], resources: ['locations'], ...more })

/** Creates so many locations, one after the other. */
async function addLocations({ org }: World, count: number): Promise<void> {
  for (let number = 1; number <= count; number += 1)
    await org.owner.post(`${org.path}/records/locations`, { values: { name: `n${number}` } })
}

test('streams: one begins with the next event, and sends each as the list has it', async (t) => {
  const w = await shared()
  const { owner } = w.org
  await addLocations(w, 2)
  const after = await lastSeq(w)
  const stream = await follow(t, w, owner)
  t.is(stream.answer.statusCode, 200)
  t.like(stream.answer.headers, {
    'content-type': 'text/event-stream; charset=utf-8',
    'cache-control': 'no-store, no-transform',
    'x-accel-buffering': 'no',
  })
  await addLocations(w, 3)
  await received(stream, 3)
  t.true(stream.text().startsWith('retry: 2000\n\n'))
  const { events, feed } = await readPage(w, owner, `?after=${after}`)
  t.deepEqual(
    stream.events(),
    events.map((event) => ({ id: `${feed}:${event.seq}`, event: event.type, data: event })),
  )
})

test('streams: JSON stays the answer for clients that do not prefer a stream, and a HEAD opens none', async (t) => {
  const w = await shared()
  const { owner } = w.org
  for (const accept of ['*/*', 'application/json', 'application/json, text/event-stream', 'text/event-stream;q=0.5, application/json']) {
    const { status, headers } = await owner.get(`${w.org.path}/events`, { accept })
    t.deepEqual([status, headers.get('content-type'), headers.get('vary')], [200, 'application/json; charset=utf-8', 'Accept'], accept)
  }
  const headers = { accept: 'text/event-stream', authorization: `Bearer ${owner.token}` }
  const head = await fetch(`${owner.root}${w.org.path}/events`, { method: 'HEAD', headers })
  t.deepEqual([head.status, head.headers.get('content-type')], [200, 'text/event-stream; charset=utf-8'])
  // The whole type of the answer names it, too.
  const accept = 'text/event-stream; charset=UTF-8'
  const whole = await fetch(`${owner.root}${w.org.path}/events`, { method: 'HEAD', headers: { ...headers, accept } })
  t.is(whole.headers.get('content-type'), 'text/event-stream; charset=utf-8')
  t.is(await countPlaces(w), 0)
  const origin = 'https://another.example'
  const asked = { origin, 'access-control-request-method': 'GET', 'access-control-request-headers': 'authorization, last-event-id' }
  const preflight = await fetch(`${owner.root}${w.org.path}/events`, { method: 'OPTIONS', headers: asked })
  t.is(preflight.status, 204)
  t.regex(preflight.headers.get('access-control-allow-headers') ?? '', /last-event-id/i)
})

test('streams: what the query gets wrong is answered before a stream begins', async (t) => {
  const w = await shared()
  const { owner } = w.org
  const refusal = async (query: string, headers: Record<string, string> = {}) => {
    const { status, body } = await owner.get(`${w.org.path}/events${query}`, { accept: 'text/event-stream', ...headers })
    t.is(status, 400, query)
    return body.error.message
  }
  t.regex(await refusal('?types=records.changed'), /there is no type "records.changed"/)
  t.regex(await refusal('?after=x'), /^after must be/)
  t.regex(await refusal('?after=0', { 'last-event-id': 'x' }), /^Last-Event-ID must be/)
  t.regex(await refusal('?limit=501'), /limit/)
  t.regex(await refusal('?afer=1'), /did you mean after/)
  t.is((await w.visitor.get(`${w.org.path}/events`, { accept: 'text/event-stream' })).status, 401)
  t.is(await countPlaces(w), 0)
})

test('streams: readers whose connections break go on by Last-Event-ID, and miss and repeat nothing', async (t) => {
  const w = await shared()
  const second = await startSecondApi(t, w)
  const { owner } = w.org
  const reader = await createMember(w, w.org, [read({ condition: { 'resource.name': { ne: 'n7' } } })])
  const after = await lastSeq(w)
  const writing = Promise.all([addLocations(w, 40), addLocations(w, 40)])
  let isWritten = false
  void writing.then(() => {
    isWritten = true
  })
  const readOn = async (client: { root: string; token: string | null }, count: number) => {
    const seqs: number[] = []
    let last = `${after}`
    for (let turn = 0; seqs.length < count; turn += 1) {
      const at = turn % 2 === 0 ? client : { root: second.root, token: client.token }
      const stream = await follow(t, w, at, `?after=${after}`, { 'last-event-id': last })
      await eventually(() => listedOf(stream).length > 0)
      if (isWritten) await received(stream, count - seqs.length)
      stream.cut()
      await eventually(stream.hasEnded)
      seqs.push(...seqsOf(stream))
      last = stream.events().at(-1)?.id ?? last
    }
    return seqs
  }
  const [all, some] = await Promise.all([readOn(owner, 80), readOn(reader.client, 78)])
  await writing
  t.deepEqual(
    all,
    Array.from({ length: 80 }, (_, index) => after + 1 + index),
  )
  t.deepEqual(
    some,
    (await readAll(w, reader.client, after)).map(({ seq }) => seq),
  )
})

test('streams: after is the place to begin at without Last-Event-ID, which goes before it', async (t) => {
  const w = await shared()
  const { owner } = w.org
  const after = await lastSeq(w)
  await addLocations(w, 3)
  const { feed, last_seq } = await readPage(w, owner)
  t.is(last_seq, after + 3)
  for (const query of [`?after=${after + 1}`, `?after=${feed}:${after + 1}`, `?after=${feed.toUpperCase()}:${after + 1}`]) {
    const stream = await follow(t, w, owner, query)
    await received(stream, 2)
    t.deepEqual(seqsOf(stream), [after + 2, after + 3], query)
    stream.cut()
  }
  const stream = await follow(t, w, owner, `?after=${after}`, { 'last-event-id': `${feed}:${after + 2}` })
  await received(stream, 1)
  t.deepEqual(seqsOf(stream), [after + 3])
})

test('streams: a place in another list, ahead or before what is kept is told, and the stream goes on with the next event', async (t) => {
  const w = await shared()
  const { owner } = w.org
  const after = await lastSeq(w)
  await addLocations(w, 4)
  await lastSeq(w)
  await deleteEventsUpTo(w.db, w.org.id, after + 2)
  const { feed } = await readPage(w, owner)
  const ids = [`${randomUUID()}:${after + 3}`, `${feed}:${after + 5}`, `${feed}:${after + 1}`]
  const streams = await Promise.all(ids.map((id) => follow(t, w, owner, '', { 'last-event-id': id })))
  await Promise.all(streams.map((stream) => eventually(() => stream.events().length > 0)))
  await addLocations(w, 1)
  for (const stream of streams) {
    await received(stream, 1)
    t.deepEqual(stream.events()[0], { id: `${feed}:${after + 4}`, event: 'resync', data: { oldest_seq: after + 3 } })
    t.deepEqual(seqsOf(stream), [after + 5])
  }
  const kept = await follow(t, w, owner, '', { 'last-event-id': `${feed}:${after + 2}` })
  await received(kept, 3)
  t.deepEqual(kept.events()[0]?.event, 'records.created')
})

test('streams: a list that is renewed while they are open is told', async (t) => {
  const w = await shared()
  const stream = await follow(t, w, w.org.owner)
  await addLocations(w, 1)
  await received(stream, 1)
  const seq = await lastSeq(w)
  const feed = await renewFeed(w)
  await eventually(() => stream.events().some(({ event }) => event === 'resync'))
  t.like(stream.events().at(-1), { id: `${feed}:${seq}`, event: 'resync' })
  await addLocations(w, 1)
  await received(stream, 2)
  t.is(stream.events().at(-1)?.id, `${feed}:${seq + 1}`)
})

test('streams: readers get the types and the records that they named', async (t) => {
  const w = await shared()
  const { owner } = w.org
  const queries = ['types=records.deleted', 'types=records.*&object_type=invoices', 'object_type=locations', 'types=members.*']
  const streams = await Promise.all(queries.map((query) => follow(t, w, owner, `?${query}`)))
  const after = await lastSeq(w)
  await addLocations(w, 1)
  const { id } = (await owner.post(`${w.org.path}/records/invoices`, { values: {} })).data
  await owner.delete(`${w.org.path}/records/invoices/${id}`)
  const all = await follow(t, w, owner, `?after=${after}`)
  await received(all, 3)
  await Promise.all([received(streams[0] ?? all, 1), received(streams[1] ?? all, 2), received(streams[2] ?? all, 1)])
  for (const [index, stream] of streams.entries()) {
    const { events } = await readPage(w, owner, `?after=${after}&${queries[index]}`)
    t.deepEqual(listedOf(stream), events, queries[index])
  }
  t.deepEqual(
    streams.map((stream) => seqsOf(stream).map((seq) => seq - after)),
    [[3], [2, 3], [1], []],
  )
})

test('streams: heartbeats take a reader of little on', async (t) => {
  const w = await shared()
  const api = await startApi(w.config, createLogger('beating', 'error'), undefined, { heartbeatMs: 100 })
  t.teardown(() => api.stop(1_000))
  const nothing = await createMember(w, w.org)
  const after = await lastSeq(w)
  const stream = await follow(t, w, { root: `http://127.0.0.1:${api.port}`, token: nothing.client.token })
  await eventually(() => stream.events().length > 1)
  await addLocations(w, 3)
  const { feed } = await readPage(w, w.org.owner)
  await eventually(() => stream.events().at(-1)?.id === `${feed}:${after + 3}`)
  t.deepEqual(stream.events()[0], { id: `${feed}:${after}`, event: 'seen', data: {} })
  t.deepEqual(listedOf(stream), [])
})

test('streams: while the database is away they stay open, and afterwards they send what happened meanwhile', async (t) => {
  const w = await shared()
  const network = await startNetwork(t, w.config.databaseUrl)
  const api = await startLogged(t, { config: { ...w.config, databaseUrl: network.url } }, 'api')
  const stream = await follow(t, w, { root: await api.root(), token: w.org.owner.token })
  await addLocations(w, 1)
  await received(stream, 1)
  network.cut()
  await api.line('the database is away')
  await addLocations(w, 2)
  network.mend()
  await api.line('the database is back')
  await received(stream, 3)
  t.false(stream.hasEnded())
  t.deepEqual(
    seqsOf(stream).map((seq, _, [first = 0]) => seq - first),
    [0, 1, 2],
  )
  t.deepEqual(
    api.lines().map(({ msg }) => msg),
    ['api ready', 'the database is away', 'the database is back'],
  )
})
