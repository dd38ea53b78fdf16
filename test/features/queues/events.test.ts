import test, { type ExecutionContext } from 'ava'
import { lastSeq, readAll, type Seen } from '#test/core/events/reading.ts'
import { byHand, chain, createFlow, ended, start as startRun } from '#test/features/flows/support.ts'
import { createFunction, handlerOf, invoke } from '#test/features/functions/support.ts'
import { addThreeItems, createFollowingQueue, northRule } from '#test/features/queues/following.ts'
import { createLine, type Line, plainStages } from '#test/features/queues/support.ts'
import type { Client } from '#test/support/client.ts'
import { createMember, createService } from '#test/support/factories.ts'
import { shareWorld } from '#test/support/shared-world.ts'
import { hearSent } from '#test/support/watch/sent.ts'
import type { World } from '#test/support/world.ts'

const start = shareWorld(test)

const ofQueues = { effect: 'allow', actions: ['queues:read'] }

/** The events of items after a position, as a caller reads them. */
const itemEvents = async (w: World, after: number, client: Client = w.org.owner): Promise<Seen[]> =>
  (await readAll(w, client, after)).filter(({ type }) => type.startsWith('queues.item.'))

const nameOf = ({ type, subject }: Seen) => `${subject.key} ${type.slice('queues.item.'.length)}`
/** The names of events, as in `a moved`, in their order. */
const namesOf = async (...given: Parameters<typeof itemEvents>): Promise<string[]> => (await itemEvents(...given)).map(nameOf)

/** A queue, and the position before its first item. */
async function open(t: ExecutionContext, definition: object = {}): Promise<{ w: World; line: Line; after: number }> {
  const w = await start()
  const line = await createLine(t, w.org, definition)
  return { w, line, after: await lastSeq(w) }
}

test('events: an item is told as added, claimed, moved and closed, with what the queue shows of it', async (t) => {
  const { w, line, after } = await open(t)
  const [a = ''] = await line.add([{ key: 'a', priority: 2, payload: { note: 'planted' } }], {
    source: 'import',
    batch: 'truck',
    note: 'planted',
  })
  const [claimed] = await line.claim()
  await line.move(a, 'work', { claim_token: claimed?.claim_token, note: 'planted' })
  await line.move(a, 'out', { status: 'failed' })
  const events = await itemEvents(w, after)
  const common = { batch: 'truck', record_id: null }
  t.deepEqual(
    events.map(({ type, data }) => [type, data]),
    [
      ['queues.item.added', { stage: 'in', status: 'open', priority: 2, source: 'import', ...common }],
      [
        'queues.item.claimed',
        { stage: 'in', claimed_by: w.org.ownerId, claim_expires_at: claimed?.claim_expires_at, attempts: 1, ...common },
      ],
      ['queues.item.moved', { from_stage: 'in', to_stage: 'work', status: 'open', ...common }],
      ['queues.item.moved', { from_stage: 'work', to_stage: 'out', status: 'failed', ...common }],
      ['queues.item.closed', { stage: 'out', status: 'failed', ...common }],
    ],
  )
  for (const { subject, actor, cause } of events) {
    t.deepEqual(subject, { queue: line.id, id: a, key: 'a' })
    t.deepEqual(actor, { id: w.org.ownerId, type: 'user' })
    t.deepEqual(cause, { kind: 'request', id: null })
  }
  const text = JSON.stringify(events)
  t.false(text.includes('planted'))
  t.false(text.includes(claimed?.claim_token ?? '-'))
})

test('events: an open item that is deleted is closed, a closed one is not told again, and what changes no stage is not told', async (t) => {
  const { w, line, after } = await open(t)
  const [a = '', b = ''] = await line.add(['a', 'b'])
  await line.add(['a'])
  const { owner } = w.org
  await owner.patch(`${line.path}/items/${a}`, { priority: 1 })
  await line.claim()
  await owner.patch(`${line.path}/items/${a}`, { release: true })
  await line.scan('nothing')
  t.is((await line.move(a, 'out', { status: 'open' })).status, 200)
  t.is((await owner.delete(`${line.path}/items/${a}`)).status, 204)
  await line.move(b, 'out')
  t.is((await line.move(b, 'work')).status, 400)
  await owner.delete(`${line.path}/items/${b}`)
  const names = ['a added', 'b added', 'a claimed', 'a moved', 'a closed', 'b moved', 'b closed']
  const events = await itemEvents(w, after)
  t.deepEqual(events.map(nameOf), names)
  t.deepEqual(
    events.filter(({ type }) => type === 'queues.item.closed').map(({ data }) => [data.stage, data.status]),
    [
      ['out', 'deleted'],
      ['out', 'done'],
    ],
  )
})

test('events: an item that is added to a terminal stage is added, then closed', async (t) => {
  const { w, line, after } = await open(t)
  await line.add(['a', { key: 'b', stage: 'out' }, { key: 'c', stage: 'out' }])
  t.deepEqual(await namesOf(w, after), ['a added', 'b added', 'b closed', 'c added', 'c closed'])
})

test('events: scans tell what they add and move, also scans recorded offline', async (t) => {
  const { w, line, after } = await open(t, { settings: { on_unknown_scan: 'create' } })
  await line.scan('a')
  await line.scan('a')
  await line.scan('a', { to_stage: 'work' })
  const scans = ['a', 'b'].map((key, index) => ({ scan_id: key, scanned_at: `2026-01-01T00:00:0${index}Z`, key }))
  for (const _ of [1, 2]) await w.org.owner.post(`${line.path}/scan/batch`, { scans })
  t.deepEqual(await namesOf(w, after), ['a added', 'a moved', 'a moved', 'a closed', 'b added'])
})

test('events: intake tells what it adds and cancels, with the cause of the change and the queue’s editor as actor', async (t) => {
  const w = await start()
  const { owner, path } = w.org
  const filter = [{ field: 'address', op: 'eq', value: 'open' }]
  const intake = { enabled: true, filter, key_field: 'name', close_on_unmatch: true }
  const patching = { key: 'work', record_patch: { address: 'open' } }
  const to = await createLine(t, w.org, { object_type: 'locations', intake }, 'to')
  const from = await createLine(t, w.org, { object_type: 'locations', stages: [plainStages[0], patching] }, 'from')
  const { id } = (await owner.post(`${path}/records/locations`, { values: { name: 'Hall' } })).data
  const mover = await createMember(w, w.org, [{ effect: 'allow', actions: ['queues:transition', 'records:read', 'records:update'] }])
  const [item = ''] = await from.add([{ key: 'x', record_id: id }])
  const after = await lastSeq(w)
  t.is((await from.move(item, 'work', {}, mover.client)).status, 200)
  await w.drain()
  await owner.put(`${path}/records/locations/${id}/values`, { values: { address: 'shut' } })
  await w.drain()
  await owner.put(`${path}/records/locations/${id}/values`, { values: { address: 'open' } })
  await w.drain()
  await owner.delete(`${path}/records/locations/${id}`)
  await w.drain()
  const [moved] = (await owner.get(`${from.path}/events?item_id=${item}`)).data
  const events = await itemEvents(w, after)
  t.deepEqual(
    events.map((event) => [nameOf(event), event.actor.id, event.cause]),
    [
      ['x moved', mover.id, { kind: 'request', id: null }],
      ['Hall added', w.org.ownerId, { kind: 'queue', id: moved.id }],
      ['Hall closed', w.org.ownerId, { kind: 'request', id: null }],
      ['Hall added', w.org.ownerId, { kind: 'request', id: null }],
      ['Hall closed', w.org.ownerId, { kind: 'request', id: null }],
    ],
  )
  t.deepEqual(
    events.slice(1).map(({ subject, data }) => [subject.queue, data.record_id, data.status]),
    ['open', 'cancelled', 'open', 'cancelled'].map((status) => [to.id, id, status]),
  )
})

test('events: functions and flows are the causes of what they do with items, also by on_enter', async (t) => {
  const w = await start()
  const { owner, path } = w.org
  const onward = await createFunction(t, w.org, handlerOf(`await sdk.queues.move('line', input.item.id, 'out')`))
  const stages = [plainStages[0], { key: 'work', on_enter: { function_id: onward.id } }, plainStages[2]]
  await createLine(t, w.org, { stages })
  const after = await lastSeq(w)
  const fn = await createFunction(
    t,
    w.org,
    handlerOf(`
      await sdk.queues.enqueue('line', [{ key: 'a' }])
      const { items: [item] } = await sdk.queues.claim('line')
      await sdk.queues.scan('line', { key: 'a', claim_token: item.claim_token })`),
  )
  await invoke(t, w.org, fn.id)
  await w.drain()
  const runsOf = async (id: string) => (await owner.get(`${path}/functions/${id}/runs`)).data.runs
  const [[run], [entered]] = [await runsOf(fn.id), await runsOf(onward.id)]
  const flow = await createFlow(t, w.org, chain(byHand, ['q', 'action.enqueue_item', { queue_key: 'line', key: 'b' }]))
  const flowRun = await startRun(t, w.org, flow.id)
  await ended(w.org, flow.id, flowRun)
  t.deepEqual(
    (await itemEvents(w, after)).map((event) => [nameOf(event), event.cause.kind, event.cause.id]),
    [
      ...['a added', 'a claimed', 'a moved'].map((name) => [name, 'function', run.id]),
      ...['a moved', 'a closed'].map((name) => [name, 'function', entered.id]),
      ['b added', 'flow', flowRun],
    ],
  )
})

test('events: items are told to who may read their queue, now', async (t) => {
  const { w, line, after } = await open(t)
  const other = await createLine(t, w.org, {}, 'other')
  await line.add(['a'])
  await other.add(['planted'])
  const limited = await createMember(w, w.org, [{ ...ofQueues, resources: ['line'] }])
  const key = await createService(w, w.org, [{ ...ofQueues, resources: ['line'] }])
  const whole = await createMember(w, w.org, [ofQueues])
  const worker = await createMember(w, w.org, [{ effect: 'allow', actions: ['queues:transition', 'queues:enqueue', 'queues:update'] }])
  const denied = await createMember(w, w.org, [ofQueues, { effect: 'deny', actions: ['queues:read'], resources: ['other'] }])
  for (const { client } of [limited, key, denied]) t.deepEqual(await namesOf(w, after, client), ['a added'])
  t.deepEqual(await namesOf(w, after, whole.client), ['a added', 'planted added'])
  t.deepEqual(await namesOf(w, after, worker.client), [])
})

test('events: items of records that the reader may not read are not told, by any change', async (t) => {
  const w = await start()
  const following = await createFollowingQueue(t, w)
  const { line, reader, createJob } = following
  const after = await lastSeq(w)
  const [, b = ''] = await addThreeItems(following)
  await line.claim({ count: 3 })
  for (const key of ['a', 'b', 'c']) await line.scan(key)
  await line.move(b, 'out', { note: 'planted' })
  const south = await createJob('south')
  const [d = ''] = await line.add([{ key: 'd', record_id: south }])
  await w.org.owner.delete(`${line.path}/items/${d}`)
  const ofA = ['a added', 'a claimed', 'a moved']
  const named = async (client: Client, ...keys: string[]) => {
    const names = await namesOf(w, after, client)
    t.deepEqual([...new Set(names.map((name) => name[0]))].toSorted(), keys)
    return names.filter((name) => name.startsWith('a'))
  }
  t.deepEqual(await named(reader.client, 'a', 'c'), ofA)
  t.deepEqual(await named(w.org.owner, 'a', 'b', 'c', 'd'), ofA)
  const blind = await createMember(w, w.org, [ofQueues])
  await named(blind.client, 'c')
  const all = await createMember(w, w.org, [ofQueues, { ...northRule, condition: undefined }])
  await named(all.client, 'a', 'b', 'c', 'd')
  // A record that enters the reader's sight brings its items along, one that leaves takes them away.
  const { record_id } = await line.item(b)
  await w.org.owner.put(`${w.org.path}/records/jobs/${record_id}/values`, { values: { region: 'north' } })
  await named(reader.client, 'a', 'b', 'c')
  await w.org.owner.delete(`${w.org.path}/records/jobs/${record_id}`)
  await named(reader.client, 'a', 'c')
  await named(all.client, 'a', 'b', 'c', 'd')
  await w.org.owner.put(line.path, { settings: { items_follow_records: false } })
  await named(blind.client, 'a', 'b', 'c', 'd')
})

test('events: a deleted queue closes its open items, told to who may read every queue and every record of its type', async (t) => {
  const w = await start()
  const following = await createFollowingQueue(t, w)
  const { line, reader } = following
  const [a = ''] = await addThreeItems(following)
  await line.move(a, 'out')
  const after = await lastSeq(w)
  const deleter = await createMember(w, w.org, [{ effect: 'allow', actions: ['queues:delete', 'queues:read'] }])
  t.is((await deleter.client.delete(line.path)).status, 204)
  await w.drain()
  const events = await itemEvents(w, after)
  t.deepEqual(events.map(nameOf), ['b closed', 'c closed'])
  for (const { subject, actor, cause, data } of events) {
    t.is(subject.queue, line.id)
    t.deepEqual([actor.id, cause.kind, data.status], [deleter.id, 'request', 'deleted'])
  }
  t.deepEqual(await namesOf(w, after, reader.client), ['c closed'])
  const every = { effect: 'allow', actions: ['records:read'], resources: ['jobs'] }
  t.deepEqual(await namesOf(w, after, (await createMember(w, w.org, [ofQueues, every])).client), ['b closed', 'c closed'])
  const named = await createMember(w, w.org, [{ ...ofQueues, resources: ['line'] }, every])
  t.deepEqual(await namesOf(w, after, named.client), [])
  const denied = await createMember(w, w.org, [ofQueues, every, { ...ofQueues, effect: 'deny', resources: ['line'] }])
  t.deepEqual(await namesOf(w, after, denied.client), [])
})

test('events: a change that is refused or rolled back tells nothing', async (t) => {
  const w = await start()
  const stages = [plainStages[0], { key: 'work', from: ['out'] }, { key: 'bad', record_patch: { name: '' } }, plainStages[2]]
  const line = await createLine(t, w.org, { object_type: 'locations', stages })
  const { id } = (await w.org.owner.post(`${w.org.path}/records/locations`, { values: { name: 'Hall' } })).data
  const [a = ''] = await line.add([{ key: 'a', record_id: id }])
  const adding = chain(byHand, ['q', 'action.enqueue_item', { queue_key: 'line', key: 'b' }])
  const flow = await createFlow(t, w.org, adding)
  await ended(w.org, flow.id, await startRun(t, w.org, flow.id))
  const [b = ''] = await line.add(['b'])
  await line.move(b, 'out')
  const after = await lastSeq(w)
  t.is((await line.move(a, 'work')).status, 400)
  t.is((await line.move(a, 'bad')).status, 400)
  t.is((await line.move(a, 'out', { claim_token: 'none' })).status, 400)
  t.is((await w.org.owner.post(`${line.path}/items`, { items: [{ key: 'c' }, { key: 'd', stage: 'none' }] })).status, 404)
  const rehearsed = await w.org.owner.post(`${w.org.path}/flows/${flow.id}/rehearse`, { runs: 1 })
  t.like(rehearsed.data.runs, [{ status: 'ok', error: null }], rehearsed.text)
  t.deepEqual(await namesOf(w, after), [])
})

test('events: 500 items are added by one statement and claimed by one each call, with an event each in their order', async (t) => {
  const { w, line, after } = await open(t)
  const keys = Array.from({ length: 500 }, (_, index) => `k${index}`)
  const sent: string[] = []
  t.teardown(
    hearSent(({ name = '', text }) => /\b(queue_(items|history)|event_inbox)\b/.test(text) && /^queues/.test(name) && sent.push(name)),
  )
  await w.org.owner.post(`${line.path}/items`, { keys })
  await line.claim({ count: 50 })
  t.deepEqual(sent, ['queues.insertItems', 'queues.claimAnywhere'])
  const names = await namesOf(w, after)
  t.deepEqual(names, [...keys.map((key) => `${key} added`), ...keys.slice(0, 50).map((key) => `${key} claimed`)])
})

test('events: the events of each item agree with its history, in its order, while many stations work at once', async (t) => {
  const { w, line, after } = await open(t, { settings: { on_unknown_scan: 'create', lease_seconds: 1 } })
  const { owner } = w.org
  const keys = Array.from({ length: 12 }, (_, index) => `k${index}`)
  await line.add(keys)
  const station = async (number: number): Promise<void> => {
    for (let step = 0; step < 10; step += 1) {
      const key = keys[(number * 5 + step * 7) % keys.length] ?? ''
      const [item] = await line.claim({ count: 1 + (step % 2) })
      await line.scan(key)
      if (item) await line.move(item.id, step % 3 === 0 ? 'out' : 'work')
      if (item && step % 4 === 3) await owner.delete(`${line.path}/items/${item.id}`)
    }
  }
  await Promise.all([0, 1, 2, 3, 4, 5].map(station))
  const history = (await owner.get(`${line.path}/events?limit=500`)).data.toReversed()
  t.true(history.length < 500)
  const events = await itemEvents(w, after)
  const told = { added: 'added', claimed: 'claimed', moved: 'moved' }
  const expected = new Map<string, string[]>()
  const isOpen = new Map<string, boolean>()
  for (const { item_id, kind, status } of history) {
    const names = expected.get(item_id) ?? []
    expected.set(item_id, names)
    if (Object.hasOwn(told, kind)) names.push(kind)
    if ((kind === 'moved' && status !== 'open') || (kind === 'deleted' && isOpen.get(item_id))) names.push('closed')
    isOpen.set(item_id, kind !== 'deleted' && status === 'open')
  }
  const found = Map.groupBy(events, ({ subject }) => subject.id ?? '')
  for (const [id, names] of expected)
    t.deepEqual(
      (found.get(id) ?? []).map(({ type }) => type.slice('queues.item.'.length)),
      names,
    )
  t.is(found.size, expected.size)
  const count = (type: string) => events.filter((event) => event.type === `queues.item.${type}`).length
  t.is(count('added') - count('closed'), Number((await line.summary()).open))
  t.true(count('closed') > 10)
})
