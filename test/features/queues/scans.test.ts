import test from 'ava'
import { deleteItemRow, dropItemUpdates } from '#test/features/queues/rows.ts'
import { createLine, proven } from '#test/features/queues/support.ts'
import { createMember, createOrg } from '#test/support/factories.ts'
import { lockTable } from '#test/support/locks.ts'
import { shareWorld } from '#test/support/shared-world.ts'

const start = shareWorld(test)

test('scans: a scan advances the item or says why not, and writes a history entry each time', async (t) => {
  const { org } = await start()
  const stages = [
    { key: 'in', kind: 'start', position: 2 },
    { key: 'work', position: 5, wip_limit: 1 },
    { key: 'out', kind: 'terminal', position: 9, from: ['work'] },
  ]
  const line = await createLine(t, org, { stages })
  const [a = ''] = await line.add(['A', 'B'])
  const verdict = async (key: string, more: object = {}) => (await line.scan(key, more)).data.verdict
  t.is(await verdict('A\r\n', { payload: { weight: 3 } }), 'moved')
  t.is(await verdict('A', { to_stage: 'work' }), 'duplicate')
  t.is(await verdict('B'), 'blocked')
  t.is(await verdict('B', { to_stage: 'out' }), 'blocked')
  t.is(await verdict('a'), 'unknown')
  t.is(await verdict('A'), 'moved')
  t.is(await verdict('A'), 'unknown')
  t.is(await verdict('B'), 'moved')
  t.is((await line.scan('A', { to_stage: 'nowhere' })).status, 404)
  t.is((await line.scan('\n')).status, 400)
  const { data: events } = await org.owner.get(`${line.path}/events`)
  t.is(events.length, 10)
  t.deepEqual(events.map(({ kind, verdict }: { kind: string; verdict: string | null }) => [kind, verdict]).reverse(), [
    ['added', null],
    ['added', null],
    ['moved', 'moved'],
    ['scanned', 'duplicate'],
    ['scanned', 'blocked'],
    ['scanned', 'blocked'],
    ['scanned', 'unknown'],
    ['moved', 'moved'],
    ['scanned', 'unknown'],
    ['moved', 'moved'],
  ])
  const [moved] = (await org.owner.get(`${line.path}/events?item_id=${a}`)).data
    .filter(({ kind }: { kind: string }) => kind === 'moved')
    .slice(-1)
  t.deepEqual(moved.payload, { weight: 3 })
  t.deepEqual((await line.item(a)).payload, {})
  t.is(events.find(({ verdict }: { verdict: string }) => verdict === 'unknown').item_id, null)
  await proven(t, org.owner, line)
})

test('scans: an unknown key is added if the queue accepts unknown keys and the caller may add items', async (t) => {
  const w = await start()
  const { org } = w
  const line = await createLine(t, org, { settings: { on_unknown_scan: 'create' } })
  const made = await line.scan(' 00A ', { stage: 'work', batch: 'b', payload: { x: 1 } })
  t.like(made.data, { verdict: 'created' })
  t.like(made.data.item, { key: ' 00A ', stage: 'work', source: 'scan', batch: 'b', payload: { x: 1 } })
  t.is((await line.scan('B', { stage: 'in', to_stage: 'out' })).data.item.stage, 'out')
  t.is((await line.scan('B')).data.verdict, 'created')
  t.is((await line.summary()).unexpected, 3)
  const mover = await createMember(w, org, [{ effect: 'allow', actions: ['queues:transition'], resources: ['line'] }])
  t.is((await line.scan('C', {}, mover.client)).status, 403)
  t.is((await line.scan(' 00A ', {}, mover.client)).data.verdict, 'moved')
  await proven(t, org.owner, line)
})

test('scans: a manifest is checked: 20 of 500 missing, 7 unexpected, and the counts add up', async (t) => {
  const { org } = await start()
  const line = await createLine(t, org, { settings: { on_unknown_scan: 'create' } })
  const keys = Array.from({ length: 500 }, (_, index) => `parcel ${index}`)
  await line.add(keys, { source: 'import', batch: 'truck' })
  const scans = [...keys.slice(0, 480), ...Array.from({ length: 7 }, (_, index) => `stray ${index}`)].map((key, index) => ({
    scan_id: `s${index}`,
    scanned_at: new Date(1_700_000_000_000 + index).toISOString(),
    key,
    to_stage: 'work',
    station: 'dock 1',
  }))
  const sent = await org.owner.post(`${line.path}/scan/batch`, { scans: scans.slice(0, 487) })
  t.is(sent.status, 200, sent.text)
  const again = await org.owner.post(`${line.path}/scan/batch`, {
    scans: [0, 1, 2].map((index) => ({ ...scans[index], scan_id: `again ${index}` })),
  })
  t.deepEqual(
    again.data.map(({ verdict }: { verdict: string }) => verdict),
    ['duplicate', 'duplicate', 'duplicate'],
  )
  const truck = await line.summary('truck')
  t.is(truck.by_stage.in, 20)
  const all = await line.summary()
  t.is(all.unexpected, 7)
  t.is(
    Object.values(all.by_stage).reduce((sum, items) => sum + items, 0),
    all.total ?? 0,
  )
  t.is(all.total, 507)
  await proven(t, org.owner, line)
})

test('scans: the scans of a journal are processed once by scan_id, in the order of scanning, and answered in the order sent', async (t) => {
  const w = await start()
  const { org } = w
  const line = await createLine(t, org)
  const [a = ''] = await line.add(['A', 'B'])
  const at = (second: number) => `2026-01-01T00:00:0${second}Z`
  const scans = [
    { scan_id: '2', scanned_at: at(2), key: 'A', to_stage: 'out' },
    { scan_id: '1', scanned_at: at(1), key: 'A', station: 'dock' },
    { scan_id: '3', scanned_at: '2999-01-01T00:00:00Z', key: 'B', to_stage: 'nowhere' },
    { scan_id: '4', scanned_at: at(4), key: '\n' },
    { scan_id: '1', scanned_at: at(1), key: 'B' },
  ]
  const send = () => org.owner.post(`${line.path}/scan/batch`, { scans })
  const [first, again] = [await send(), await send()]
  const verdictsOf = (answer: typeof first) =>
    answer.data.map(({ scan_id, verdict, conflict }: Record<string, unknown>) => [scan_id, verdict, conflict])
  t.deepEqual(verdictsOf(first), [
    ['2', 'moved', true],
    ['1', 'moved', true],
    ['3', 'blocked', false],
    ['4', 'blocked', false],
    ['1', 'moved', true],
  ])
  t.deepEqual(verdictsOf(again), verdictsOf(first))
  t.deepEqual(await line.kinds(a), ['added', 'moved', 'moved'])
  const [entry] = (await org.owner.get(`${line.path}/events?item_id=${a}`)).data.filter(
    ({ scan_id }: { scan_id: string }) => scan_id === '1',
  )
  t.like(entry, { scanned_at: '2026-01-01T00:00:01.000000Z', station: 'dock', verdict: 'moved' })
  t.is((await org.owner.post(`${line.path}/scan/batch`, { scans: [{ ...scans[0], scan_id: '' }] })).status, 400)
  const many = Array.from({ length: 501 }, (_, index) => ({ scan_id: `${index}`, scanned_at: at(1), key: 'Z' }))
  t.is((await org.owner.post(`${line.path}/scan/batch`, { scans: many })).status, 400)
  t.is((await org.owner.post(`${line.path}/scan/batch`, { scans: many.slice(0, 500) })).data.length, 500)
  const mover = await createMember(w, org, [{ effect: 'allow', actions: ['queues:transition'] }])
  await org.owner.put(line.path, { settings: { on_unknown_scan: 'create' } })
  const refused = await mover.client.post(`${line.path}/scan/batch`, { scans: [{ scan_id: 'new', scanned_at: at(1), key: 'Z' }] })
  t.like(refused.data[0], { verdict: 'blocked', message: 'Needs queues:enqueue on line' })
  await proven(t, org.owner, line)
})

test('scans: a scan of an item that is deleted before its entry is written is judged again', async (t) => {
  const w = await start()
  const org = await createOrg(w)
  const line = await createLine(t, org)
  const [id = ''] = await line.add(['A'])
  const lock = await lockTable(t, w.db, 'queue_history', 'share row exclusive')
  const scanned = line.scan('A', { to_stage: 'in' })
  await lock.waitedFor()
  await deleteItemRow(lock, id)
  await lock.release()
  t.is((await scanned).data.verdict, 'unknown')
  t.deepEqual(await line.kinds(id), ['added'], 'no entry after that of the deletion')
})

test('scans: a scan that other callers always forestall is OVERLOADED, and nothing is written', async (t) => {
  const w = await start()
  const org = await createOrg(w)
  const line = await createLine(t, org)
  const [id = ''] = await line.add(['A'])
  const letUpdatesThrough = await dropItemUpdates(w.db, id)
  const forestalled = await line.scan('A', {}, org.owner.withoutRetries())
  t.is(forestalled.status, 503, forestalled.text)
  t.is(forestalled.body.error.code, 'OVERLOADED')
  t.deepEqual(await line.kinds(id), ['added'])
  await letUpdatesThrough()
  t.is((await line.scan('A')).data.verdict, 'moved')
  await proven(t, org.owner, line)
})
