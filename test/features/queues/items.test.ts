import test from 'ava'
import { createLine, proven } from '#test/features/queues/support.ts'
import { shareWorld } from '#test/support/shared-world.ts'

const start = shareWorld(test)

test('items: items are added once by key, and a key whose item is closed can be added again', async (t) => {
  const { org } = await start()
  const line = await createLine(t, org)
  const added = await org.owner.post(`${line.path}/items`, {
    items: [{ key: 'A', payload: { n: 12345678901234.12 }, priority: 2 }, { key: 'B', stage: 'work' }, { key: 'A' }],
    batch: 'b1',
    source: 'import',
    note: 'truck 7',
  })
  t.is(added.status, 201)
  t.like(added.data, { created: 2, duplicates: 1 })
  t.deepEqual(
    added.data.items.map(({ key, stage, status, duplicate }: Record<string, unknown>) => [key, stage, status, duplicate]),
    [
      ['A', 'in', 'open', false],
      ['B', 'work', 'open', false],
      ['A', 'in', 'open', true],
    ],
  )
  t.is(added.data.items[0].id, added.data.items[2].id)
  const [id] = added.data.items.map((item: { id: string }) => item.id)
  t.like(await line.item(id), {
    key: 'A',
    stage: 'in',
    status: 'open',
    priority: 2,
    source: 'import',
    batch: 'b1',
    record_id: null,
    payload: { n: 12345678901234.12 },
    claimed_by: null,
    claim_expires_at: null,
    assignee_id: '',
    attempts: 0,
    due_at: null,
    overdue: false,
  })
  t.deepEqual(await line.add(['A']), [id])
  t.is((await line.move(id, 'out')).data.status, 'done')
  const [again] = await line.add(['A'])
  t.not(again, id)
  const [event] = (await org.owner.get(`${line.path}/events?item_id=${id}`)).data.slice(-1)
  t.like(event, {
    kind: 'added',
    to_stage: 'in',
    status: 'open',
    note: 'truck 7',
    actor_id: org.ownerId,
    actor_type: 'user',
    scan_id: null,
  })
  await proven(t, org.owner, line)
})

test('items: a queue that allows duplicates keeps each, and a scan takes the oldest open one', async (t) => {
  const { org } = await start()
  const line = await createLine(t, org, { settings: { allow_duplicates: true } })
  const [first, second] = await line.add(['A', 'A'])
  t.not(first, second)
  t.is((await line.scan('A')).data.item.id, first)
  t.is((await line.scan('A', { to_stage: 'out' })).data.item.id, first)
  t.is((await line.scan('A')).data.item.id, second)
  await org.owner.put(line.path, { settings: { allow_duplicates: false } })
  t.is((await org.owner.post(`${line.path}/items`, { keys: ['A'] })).data.duplicates, 1)
  await proven(t, org.owner, line)
})

test('items: the limits of adding accept their value and refuse one more', async (t) => {
  const { org } = await start()
  const line = await createLine(t, org)
  const post = (body: object) => org.owner.post(`${line.path}/items`, body)
  const keys = (count: number) => Array.from({ length: count }, (_, index) => `k${index}`)
  t.is((await post({ keys: keys(500) })).data.created, 500)
  const refused = async (body: object, message: RegExp) => {
    const answer = await post(body)
    t.is(answer.status, 400, answer.text)
    t.regex(answer.body.error.message, message)
  }
  await refused({ keys: keys(501) }, /keys must have at most 500 items/)
  await refused({ items: keys(501).map((key) => ({ key })) }, /items must have at most 500 items/)
  await refused({}, /items or keys must be given/)
  await refused({ keys: [] }, /items or keys must be given/)
  await refused({ keys: [''] }, /keys\[0\] must have at least 1 characters/)
  const payload = (bytes: number) => ({ t: 'ü'.repeat((bytes - 8) / 2) })
  t.is((await post({ items: [{ key: 'big', payload: payload(16_384) }] })).status, 201)
  await refused(
    { items: [{ key: 'bigger', payload: payload(16_386) }] },
    /items\[0\]\.payload must have at most 16384 bytes as JSON, got 16386/,
  )
  t.is((await post({ keys: ['x'], stage: 'nowhere' })).status, 404)
  const [closed] = (await post({ items: [{ key: 'end', stage: 'out' }] })).data.items
  t.is(closed.status, 'done')
})

test('items: a move follows the rules of the stage and closes the item in a terminal one; a closed item stays closed', async (t) => {
  const { org } = await start()
  const line = await createLine(t, org, {
    stages: [
      { key: 'in', kind: 'start' },
      { key: 'work', from: ['in'], wip_limit: 1 },
      { key: 'check', from: ['work'] },
      { key: 'out', kind: 'terminal' },
    ],
  })
  const [one, two, three] = await line.add(['1', '2', '3'])
  t.is((await line.move(one ?? '', 'work')).data.stage, 'work')
  const full = await line.move(two ?? '', 'work')
  t.is(full.status, 400)
  t.is(full.body.error.message, 'The stage work (work) is at its limit of 1')
  const from = await line.move(two ?? '', 'check')
  t.is(from.status, 400)
  t.is(from.body.error.message, 'The stage check (check) takes no items from in')
  t.is((await line.move(two ?? '', 'nowhere')).status, 404)
  t.is((await line.move('no id', 'work')).status, 400)
  t.is((await line.move(org.id, 'work')).status, 404)
  t.like((await line.move(one ?? '', 'check', { status: 'failed', note: 'broken' })).data, { stage: 'check', status: 'failed' })
  t.is((await line.move(two ?? '', 'work')).status, 200)
  t.like((await line.move(three ?? '', 'out')).data, { status: 'done', stage: 'out' })
  t.is((await line.move(three ?? '', 'in')).body.error.message, 'The item is closed (done)')
  t.is((await org.owner.patch(`${line.path}/items/${three}`, { priority: 1 })).status, 400)
  t.deepEqual(await line.summary(), {
    total: 3,
    open: 1,
    closed: 2,
    overdue: 0,
    unexpected: 0,
    by_stage: { in: 0, work: 1, check: 1, out: 1 },
  })
  t.is((await org.owner.delete(`${line.path}/items/${three}`)).status, 204)
  t.is((await org.owner.delete(`${line.path}/items/${three}`)).status, 404)
  t.is((await line.summary()).total, 2)
  await proven(t, org.owner, line)
})

test('items: an edit changes the fields that are sent, null clears one, and the counts of batches follow', async (t) => {
  const { org } = await start()
  const line = await createLine(t, org)
  const [id = ''] = await line.add(['A'], { batch: 'b1' })
  const edit = (body: object) => org.owner.patch(`${line.path}/items/${id}`, body)
  const sent = { priority: 5, batch: 'b2', assignee_id: 'ann', due_at: '2030-01-01T01:00:00+01:00', payload: { a: 1 } }
  t.like((await edit(sent)).data, { ...sent, due_at: '2030-01-01T00:00:00.000000Z', stage: 'in' })
  t.deepEqual((await org.owner.get(`${line.path}/batches`)).data, [{ batch: 'b2', total: 1, open: 1, closed: 0 }])
  t.like((await edit({ assignee_id: '', due_at: null })).data, { assignee_id: '', due_at: null, priority: 5 })
  t.is((await edit({ due_at: '2030-13-01T00:00:00Z' })).status, 400)
  t.is((await edit({ priority: 'high' })).status, 400)
  t.is((await edit({ note: 'seen' })).status, 200)
  t.deepEqual(await line.kinds(id), ['added', 'edited', 'edited', 'edited'])
  await proven(t, org.owner, line)
})

test('items: a disabled queue shows its items and changes none', async (t) => {
  const { org } = await start()
  const line = await createLine(t, org)
  const [id = ''] = await line.add(['A'])
  t.is((await org.owner.put(line.path, { enabled: false })).data.enabled, false)
  const { owner } = org
  const item = `${line.path}/items/${id}`
  const refused = [
    owner.post(`${line.path}/items`, { keys: ['B'] }),
    line.scan('A'),
    line.move(id, 'work'),
    owner.post(`${line.path}/claim`, {}),
    owner.patch(item, { priority: 1 }),
    owner.delete(item),
    owner.post(`${line.path}/scan/batch`, { scans: [{ scan_id: '1', scanned_at: '2026-01-01T00:00:00Z', key: 'A' }] }),
  ]
  for (const answer of await Promise.all(refused)) t.is(answer.status, 400, answer.text)
  t.is((await owner.get(item)).status, 200)
  t.is((await line.summary()).open, 1)
  t.is((await owner.delete(line.path)).status, 204)
})
