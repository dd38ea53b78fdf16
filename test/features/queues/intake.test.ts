import test, { type ExecutionContext } from 'ava'
import { readKeysOpenTwice, storeIntakeFilter } from '#test/features/queues/rows.ts'
import { createLine, type Line, proven } from '#test/features/queues/support.ts'
import { createMember } from '#test/support/factories.ts'
import { removeMember } from '#test/support/rows.ts'
import { shareWorld } from '#test/support/shared-world.ts'
import type { World } from '#test/support/world.ts'

const start = shareWorld(test)

interface Intake {
  readonly w: World
  readonly line: Line
  readonly records: string
  readonly create: (values: object) => Promise<string>
  readonly change: (id: string, values: object) => Promise<void>
  readonly items: () => Promise<[key: string, status: string][]>
}

/** A queue that takes in deals of stage won, by their name. */
async function withIntake(t: ExecutionContext, intake: object = {}): Promise<Intake> {
  const w = await start()
  const { owner, path } = w.org
  await owner.post(`${path}/types`, { key: 'deals', label: 'Deals' })
  const fields = [
    { key: 'name', type: 'string' },
    { key: 'stage', type: 'select', rules: { options: ['new', 'won'] } },
    { key: 'total', type: 'currency' },
  ]
  for (const field of fields) await owner.post(`${path}/fields`, { entity_type: 'deals', label: field.key, ...field })
  const filter = [{ field: 'stage', op: 'eq', value: 'won' }]
  const line = await createLine(t, w.org, {
    object_type: 'deals',
    intake: { enabled: true, filter, key_field: 'name', close_on_unmatch: true, ...intake },
  })
  const records = `${path}/records/deals`
  return {
    w,
    line,
    records,
    create: async (values) => (await owner.post(records, { values })).data.id,
    change: async (id, values) => {
      const answer = await owner.put(`${records}/${id}/values`, { values })
      t.is(answer.status, 204, answer.text)
    },
    items: async () => {
      await w.drain()
      const { data } = await owner.get(`${line.path}/items?limit=200`)
      return data.items.map(({ key, status }: { key: string; status: string }) => [key, status]).reverse()
    },
  }
}

test('intake: a record that begins to match is added once, and the item of one that no longer matches is cancelled', async (t) => {
  const { w, line, records, create, change, items } = await withIntake(t)
  const a = await create({ name: 'A', stage: 'won' })
  t.deepEqual(await items(), [['A', 'open']])
  const b = await create({ name: 'B', stage: 'new' })
  const c = await create({ stage: 'won' })
  t.deepEqual(await items(), [
    ['A', 'open'],
    [c, 'open'],
  ])
  const [first] = (await w.org.owner.get(`${line.path}/items?record_id=${a}`)).data.items
  t.like(first, { source: 'intake', record_id: a, stage: 'in' })
  await change(b, { stage: 'won' })
  await change(a, { total: 5 })
  t.is((await items()).length, 3)
  await change(b, { stage: 'new' })
  await w.org.owner.delete(`${records}/${c}`)
  t.deepEqual(await items(), [
    ['A', 'open'],
    [c, 'cancelled'],
    ['B', 'cancelled'],
  ])
  await line.move(first.id, 'out')
  await change(a, { total: 6 })
  t.is((await items()).length, 3)
  await change(a, { stage: 'new' })
  await change(a, { stage: 'won' })
  t.deepEqual((await items()).at(-1), ['A', 'open'])
  t.is((await items()).length, 4)
  const cancelled = (await w.org.owner.get(`${line.path}/items?record_id=${b}`)).data.items[0]
  t.deepEqual(await line.kinds(cancelled.id), ['added', 'cancelled'])
  t.like((await w.org.owner.get(`${line.path}/events?item_id=${cancelled.id}`)).data[0], { actor_id: w.org.ownerId, status: 'cancelled' })
  await proven(t, w.org.owner, line)
})

test('intake: enabling intake or changing its filter adds no items by itself', async (t) => {
  const { w, line, create, change, items } = await withIntake(t, { enabled: false })
  const a = await create({ name: 'A', stage: 'won' })
  t.is((await w.org.owner.put(line.path, { intake: { enabled: true } })).data.intake.enabled, true)
  await change(a, { total: 1 })
  t.deepEqual(await items(), [])
  await w.org.owner.put(line.path, { intake: { filter: [{ field: 'total', op: 'gte', value: '5' }] } })
  await change(a, { name: 'AA' })
  t.deepEqual(await items(), [])
  await change(a, { total: 7 })
  t.deepEqual(await items(), [['AA', 'open']])
  await w.org.owner.put(line.path, { intake: { enabled: false } })
  await create({ name: 'B', total: 9 })
  t.is((await items()).length, 1)
})

test('intake: intake adds no key that is already open, and cancels only if its settings say so', async (t) => {
  const { w, line, create, change, items } = await withIntake(t, { close_on_unmatch: false })
  await line.add(['A'])
  const a = await create({ name: 'A', stage: 'won' })
  t.deepEqual(await items(), [['A', 'open']])
  const b = await create({ name: 'B', stage: 'won' })
  t.is((await items()).length, 2)
  await change(b, { stage: 'new' })
  await w.org.owner.delete(`${w.org.path}/records/deals/${a}`)
  t.deepEqual(await items(), [
    ['A', 'open'],
    ['B', 'open'],
  ])
})

test('intake: a record that flips in and out of the filter ends in its last state, with one open item at most', async (t) => {
  const { w, line, create, change, items } = await withIntake(t)
  const ids = await Promise.all(['A', 'B', 'C'].map((name) => create({ name, stage: 'new' })))
  for (let round = 0; round < 25; round++) {
    await Promise.all(ids.map((id) => change(id, { stage: 'won' })))
    await Promise.all(ids.map((id, index) => change(id, { stage: round === 24 && index === 0 ? 'won' : 'new' })))
    t.deepEqual(await readKeysOpenTwice(w.db, line.id), [])
  }
  const all = await items()
  t.deepEqual(
    all.filter(([, status]) => status !== 'cancelled'),
    [['A', 'open']],
  )
  await proven(t, w.org.owner, line)
})

test('intake: an import of 500 records adds 500 items', async (t) => {
  const { w, records, line } = await withIntake(t)
  const rows = Array.from({ length: 500 }, (_, index) => `deal ${index},${index % 5 === 0 ? 'new' : 'won'}`)
  const body = `name,stage\r\n${rows.join('\r\n')}\r\n`
  const imported = await w.org.owner.post(`${records}/import`, body, { 'content-type': 'text/csv' })
  t.is(imported.data.created, 500, imported.text)
  await w.drain()
  t.is((await line.summary()).open, 400)
  await proven(t, w.org.owner, line)
})

test('intake: intake acts as the queue’s last editor, and pauses while that editor may not read the records', async (t) => {
  const { w, line, create, items } = await withIntake(t)
  const rights = (resources: string[]) => [
    { effect: 'allow', actions: ['queues:read', 'queues:update'] },
    { effect: 'allow', actions: ['records:read'], resources: ['deals'], condition: { 'resource.name': { in: resources } } },
  ]
  const editor = await createMember(w, w.org, rights(['A']))
  const named = await editor.client.put(line.path, { intake: { key_field: 'name' } })
  t.is(named.status, 200, named.text)
  await create({ name: 'A', stage: 'won' })
  await create({ name: 'B', stage: 'won' })
  t.deepEqual(await items(), [['A', 'open']])
  const blind = await createMember(w, w.org, [
    { effect: 'allow', actions: ['queues:update'] },
    { effect: 'allow', actions: ['records:read'], resources: ['deals'], fields: { deny: ['stage'] } },
  ])
  const refused = await blind.client.put(line.path, { intake: { filter: [{ field: 'stage', op: 'eq', value: 'new' }] } })
  t.is(refused.status, 400)
  t.regex(refused.body.error.message, /intake\.filter\[0\]\.field must be a field of deals that you may read/)
  await removeMember(w.db, w.org.id, editor.id)
  await create({ name: 'A', stage: 'won' })
  t.is((await items()).length, 1)
})

test('intake: a filter has at most 16 KB of JSON, unless it is stored already', async (t) => {
  const { w, line } = await withIntake(t)
  const { owner } = w.org
  const filterOf = (bytes: number) => {
    const frame = Buffer.byteLength(JSON.stringify([{ field: 'name', op: 'eq', value: '' }]))
    return [{ field: 'name', op: 'eq', value: 'x'.repeat(bytes - frame) }]
  }
  t.is((await owner.put(line.path, { intake: { filter: filterOf(16_384) } })).status, 200)
  for (const more of [{}, { object_type: null, intake: { enabled: false, filter: filterOf(16_385) } }]) {
    const refused = await owner.put(line.path, { intake: { filter: filterOf(16_385) }, ...more })
    t.is(refused.status, 400, refused.text)
    t.is(refused.body.error.message, 'intake.filter must have at most 16 KB (16384 bytes of compact JSON), got 16385 bytes')
  }
  // An earlier release stored longer ones.
  const kept = filterOf(20_000)
  await storeIntakeFilter(w.db, line.id, kept)
  t.is((await owner.put(line.path, { name: 'Other' })).status, 200)
  t.is((await owner.put(line.path, { intake: { filter: kept } })).status, 200)
  t.is((await owner.put(line.path, { intake: { filter: filterOf(19_999) } })).status, 400)
})

test('intake: with a blank key_field, the key is the record’s id', async (t) => {
  for (const key_field of ['', '  ', null]) {
    const { w, line, create, items } = await withIntake(t, { key_field })
    t.is((await w.org.owner.get(line.path)).data.intake.key_field, null)
    const id = await create({ name: 'A', stage: 'won' })
    t.deepEqual(await items(), [[id, 'open']])
    await w.org.owner.delete(line.path)
    await w.org.owner.delete(`${w.org.path}/types/deals`)
  }
})

test('intake: the values of a key_field that the editor may no longer read are not written into keys', async (t) => {
  const { w, line, create, items } = await withIntake(t)
  const rule = { effect: 'allow', actions: ['queues:read', 'queues:update', 'records:read'] }
  const editor = await createMember(w, w.org, [rule])
  t.is((await editor.client.put(line.path, { intake: { key_field: 'name' } })).status, 200)
  await create({ name: 'Seen', stage: 'won' })
  t.deepEqual(await items(), [['Seen', 'open']])
  const { data: roles } = await w.org.owner.get(`${w.org.path}/iam/groups`)
  const role = roles.at(-1)
  const hiding = { ...rule, fields: { deny: ['name'] } }
  t.is((await w.org.owner.put(`${w.org.path}/iam/groups/${role.id}`, { name: role.name, policy: [hiding] })).status, 200)
  const id = await create({ name: 'Secret', stage: 'won' })
  t.deepEqual((await items()).at(-1), [id, 'open'])
})
