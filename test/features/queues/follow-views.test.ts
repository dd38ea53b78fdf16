import test from 'ava'
import { addThreeItems, createFollowingQueue, northRule, queueRule } from '#test/features/queues/following.ts'
import { dropFollowSetting } from '#test/features/queues/rows.ts'
import { createLine, proven } from '#test/features/queues/support.ts'
import { type Caller, createMember } from '#test/support/factories.ts'
import { shareWorld } from '#test/support/shared-world.ts'
import { hearSent } from '#test/support/watch/sent.ts'

const start = shareWorld(test)

const keysOf = (items: readonly { key: string }[]) => items.map(({ key }) => key).sort()

test('follow views: the setting is false by default, needs a type, and stays when it is left out', async (t) => {
  const { org } = await start()
  const plain = await createLine(t, org)
  t.is((await org.owner.get(plain.path)).data.settings.items_follow_records, false)
  const refused = await org.owner.put(plain.path, { settings: { items_follow_records: true } })
  t.is(refused.status, 400)
  t.regex(refused.body.error.message, /settings\.items_follow_records needs object_type/)
  const { w, line } = await createFollowingQueue(t, await start())
  t.is((await w.org.owner.put(line.path, { settings: { lease_seconds: 9 } })).data.settings.items_follow_records, true)
  t.is((await w.org.owner.put(line.path, { object_type: null })).status, 400)
})

test('follow views: a queue that was stored before the setting existed behaves as if it were off', async (t) => {
  const { w, line, reader, createJob } = await createFollowingQueue(t, await start())
  const [b = ''] = await line.add([{ key: 'b', record_id: await createJob('south') }])
  t.is((await reader.client.get(`${line.path}/items/${b}`)).status, 404)
  await dropFollowSetting(w.db, line.id)
  t.is((await w.org.owner.put(line.path, { name: 'old' })).data.settings.items_follow_records, false)
  t.is((await reader.client.get(`${line.path}/items/${b}`)).status, 200)
})

test('follow views: lists, totals, search, board, counts, batches and history leave out items of records that the caller may not read', async (t) => {
  const queue = await createFollowingQueue(t, await start())
  const { w, line, reader, createJob } = queue
  const [a = '', b = '', c = ''] = await addThreeItems(queue)
  const [late = ''] = await line.add([{ key: 'b2', record_id: await createJob('south'), batch: 'hidden' }])
  for (const id of [a, b, late]) await w.org.owner.patch(`${line.path}/items/${id}`, { due_at: '2020-01-01T00:00:00Z' })
  const [done = ''] = await line.add([{ key: 'b3', record_id: await createJob('south'), stage: 'out', batch: 'truck' }])
  const as = async (client: Caller['client'], of: string) => {
    const answer = await client.get(`${line.path}${of}`)
    t.is(answer.status, 200, answer.text)
    return answer.data
  }
  const seen = (of: string) => as(reader.client, of)
  const listed = async (of: string) => {
    const { items, total, next_offset } = await seen(of)
    t.is(total, items.length)
    t.is(next_offset, null)
    return keysOf(items)
  }
  t.deepEqual(await listed('/items'), ['a', 'c'])
  t.deepEqual(await listed('/items?batch=truck'), ['a', 'c'])
  t.deepEqual(await listed('/items?status=open'), ['a', 'c'])
  t.deepEqual(await listed('/items?status=done'), [])
  t.deepEqual(await listed('/items?key=b'), [])
  t.deepEqual(await listed('/items?q=b'), [])
  t.deepEqual(await listed('/items?q=truck'), ['a', 'c'])
  t.deepEqual(await listed('/items?overdue=true'), ['a'])
  t.deepEqual(await listed('/stages/in/items'), ['a', 'c'])
  t.deepEqual(await listed('/stages/out/items'), [])
  const { record_id } = await line.item(b)
  t.deepEqual(await listed(`/items?record_id=${record_id}`), [])
  const first = await seen('/items?limit=1')
  t.deepEqual([keysOf(first.items), first.total, first.next_offset], [['c'], 2, 1])
  const second = await seen('/items?limit=1&offset=1')
  t.deepEqual([keysOf(second.items), second.total, second.next_offset], [['a'], 2, null])
  t.is((await seen('/items?limit=1&offset=7')).total, 2)
  const csv = await reader.client.get(`${line.path}/items`, { accept: 'text/csv' })
  t.deepEqual(
    csv.text
      .trim()
      .split('\n')
      .slice(1)
      .map((row) => row.split(',')[1]),
    ['c', 'a'],
  )
  const { stages: shown } = await seen('/board?limit=1')
  t.deepEqual(
    shown.map(
      ({ key, items, total, next_offset }: { key: string; items: { key: string }[]; total: number; next_offset: number | null }) => [
        key,
        keysOf(items),
        total,
        next_offset,
      ],
    ),
    [
      ['in', ['a'], 2, 1],
      ['work', [], 0, null],
      ['out', [], 0, null],
    ],
  )
  const counts = { total: 2, open: 2, closed: 0, overdue: 1, unexpected: 0, by_stage: { in: 2, work: 0, out: 0 } }
  t.deepEqual((await seen('/summary')).summary, counts)
  t.deepEqual((await seen('/summary?batch=truck')).summary, counts)
  t.is((await seen('/summary?batch=hidden')).summary.total, 0)
  t.deepEqual((await seen('')).summary, counts)
  const { data: queues } = await reader.client.get(`${w.org.path}/queues`)
  t.deepEqual(queues.find(({ id }: { id: string }) => id === line.id).summary, counts)
  t.deepEqual(await seen('/batches'), [{ batch: 'truck', total: 2, open: 2, closed: 0 }])
  t.deepEqual([...new Set(keysOf(await seen('/events')))], ['a', 'c'])
  t.deepEqual(await seen(`/events?item_id=${b}`), [])
  t.is((await seen(`/events?item_id=${a}`)).length, 2)
  t.is((await seen(`/items/${c}`)).key, 'c')
  // The owner sees all of it.
  t.is((await line.summary()).total, 5)
  t.deepEqual(keysOf((await as(w.org.owner, '/items')).items), ['a', 'b', 'b2', 'b3', 'c'])
  t.is((await as(w.org.owner, `/items/${done}`)).status, 'done')
  // The item goes, its history stays hidden.
  await w.org.owner.delete(`${line.path}/items/${b}`)
  t.deepEqual(await seen(`/events?item_id=${b}`), [])
  t.deepEqual([...new Set(keysOf(await seen('/events')))], ['a', 'c'])
  await proven(t, w.org.owner, line)
})

test('follow views: queues of several types are each counted by their own records, and a deny rule hides items too', async (t) => {
  const { w, line, createJob } = await createFollowingQueue(t, await start())
  const { owner, path } = w.org
  const { data: hall } = await owner.post(`${path}/records/locations`, { values: { name: 'Hall' } })
  const settings = { items_follow_records: true }
  const halls = await createLine(t, w.org, { object_type: 'locations', settings }, 'halls')
  const plain = await createLine(t, w.org, { object_type: 'jobs' }, 'plain')
  const records = [await createJob('north'), await createJob('south'), await createJob('south')]
  for (const each of [line, plain]) await each.add(records.map((record_id, index) => ({ key: `k${index}`, record_id })))
  await halls.add([{ key: 'hall', record_id: hall.id }, 'none'])
  const totals = async (...rules: object[]) => {
    const { client } = await createMember(w, w.org, [queueRule, ...rules])
    const { data } = await client.get(`${path}/queues`)
    return data.map(({ key, summary }: { key: string; summary: { total: number } }) => `${key} ${summary.total}`)
  }
  const reading = { effect: 'allow', actions: ['records:read'] }
  t.deepEqual(await totals(northRule), ['line 1', 'halls 1', 'plain 3'])
  t.deepEqual(await totals(reading), ['line 3', 'halls 2', 'plain 3'])
  t.deepEqual(await totals(reading, { ...northRule, effect: 'deny' }), ['line 2', 'halls 2', 'plain 3'])
  t.deepEqual(await totals({ ...reading, resources: ['locations'] }), ['line 0', 'halls 2', 'plain 3'])
})

test('follow views: without the setting no statement is added and none changes', async (t) => {
  const { w, line, reader, createJob } = await createFollowingQueue(t, await start(), { settings: { items_follow_records: false } })
  const [a = ''] = await line.add([{ key: 'a', record_id: await createJob('south') }, { key: 'b' }])
  const { client } = reader
  const item = `${line.path}/items/${a}`
  const asked: [() => Promise<unknown>, string[]][] = [
    [() => client.get(item), ['queues.findItemById']],
    [() => client.get(`${line.path}/board`), ['queues.findBoard', 'queues.findCounts']],
    [() => client.get(`${line.path}/summary`), ['queues.findCounts', 'queues.countOverdue']],
    [() => client.get(`${line.path}/batches`), ['queues.findBatches']],
    [() => client.get(`${line.path}/events`), ['queues.findHistory']],
    [() => client.get(`${line.path}/items?limit=1`), ['', 'queues.findCounts']],
    [() => client.post(`${line.path}/claim`, {}), ['queues.claimAnywhere']],
    [() => client.post(`${line.path}/items`, { keys: ['b'] }), ['queues.insertItems']],
    [() => client.patch(item, { release: true }), ['queues.updateItem']],
    [() => client.post(`${line.path}/scan`, { key: 'b', to_stage: 'out' }), ['queues.findOpenByKey', 'queues.updateItemStage']],
    [() => client.post(`${item}/move`, { to_stage: 'out' }), ['queues.updateItemStage']],
    [() => client.delete(item), ['queues.deleteItem']],
  ]
  for (const [ask, names] of asked) {
    // A read's first statement has the suffix `v` if it also verifies the cache.
    const sent: string[] = []
    const stop = hearSent(({ name = '', text }) => /\bqueue_(items|history|counts)\b/.test(text) && sent.push(name.replace(/v$/, '')))
    await ask()
    stop()
    t.deepEqual(sent, names)
  }
  t.is((await line.summary()).total, 1)
  await proven(t, w.org.owner, line)
})
