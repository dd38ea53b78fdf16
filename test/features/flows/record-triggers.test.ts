import test, { type ExecutionContext } from 'ava'
import { storeTrigger } from '#test/features/flows/rows.ts'
import { byHand, chain, createFlow, outputsOf, recordsOf, runOf, runsOf } from '#test/features/flows/support.ts'
import { createMember, createOrg, createRole, type Org } from '#test/support/factories.ts'
import { assignRole, unassignRoles } from '#test/support/rows.ts'
import { shareWorld } from '#test/support/shared-world.ts'

const shared = shareWorld(test)

const flowRights = { effect: 'allow', actions: ['flows:read', 'flows:create', 'flows:update', 'flows:run'] }
const writes = { effect: 'allow', actions: ['records:read', 'records:create'], resources: ['locations'] }
const reads = (more: object = {}) => ({ effect: 'allow', actions: ['records:read'], resources: ['staff'], ...more })

async function staff(t: ExecutionContext, org: Org) {
  await org.owner.post(`${org.path}/types`, { key: 'staff', label: 'Staff' })
  for (const [key, type, rules] of [
    ['name', 'string'],
    ['salary', 'number'],
    ['team', 'string'],
    ['place', 'ref', { ref_type: 'locations' }],
  ]) {
    const made = await org.owner.post(`${org.path}/fields`, { entity_type: 'staff', key, label: key, type, ...(rules ? { rules } : {}) })
    t.is(made.status, 201, made.text)
  }
  return {
    create: async (values: object): Promise<string> => (await org.owner.post(`${org.path}/records/staff`, { values })).data.id,
    change: async (id: string, values: object) => {
      const changed = await org.owner.put(`${org.path}/records/staff/${id}/values`, { values })
      t.is(changed.status, 204, changed.text)
    },
    remove: (id: string) => org.owner.delete(`${org.path}/records/staff/${id}`),
  }
}

const on = (event: string, settings: object = {}) => ['t', 'trigger.record_event', { object_type: 'staff', event, ...settings }] as const
const note = (name: string) => ['n', 'action.create_record', { object_type: 'locations', values: { name } }] as const
const noted = async (org: Org): Promise<string[]> => (await recordsOf(org, 'locations')).map(({ name }) => name)

test('record triggers: an update starts a run only when a watched field changed, and tells what changed', async (t) => {
  const w = await shared()
  const org = await createOrg(w)
  const { create, change } = await staff(t, org)
  const text = '{{trigger.before.name}}>{{trigger.record.name}} {{trigger.before.salary}}>{{trigger.record.salary}} {{trigger.changed}}'
  await createFlow(t, org, { enabled: true, ...chain(on('updated', { fields: ['salary', 'team'] }), note(text)) })
  const id = await create({ name: 'Ann', salary: 100 })
  for (const values of [
    { name: 'Anne' },
    { salary: 100, name: 'Anna' },
    { salary: 200, name: 'Ada' },
    { team: 'north' },
    { salary: null },
  ]) {
    await change(id, values)
    await w.drain()
  }
  t.deepEqual(await noted(org), ['Anna>Ada 100>200 ["name","salary"]', 'Ada>Ada 200>200 ["team"]', 'Ada>Ada 200> ["salary"]'])
})

test('record triggers: a creation and a deletion have no earlier values, and watched fields do not limit them', async (t) => {
  const w = await shared()
  const org = await createOrg(w)
  const { create, remove } = await staff(t, org)
  for (const event of ['created', 'deleted'])
    await createFlow(t, org, {
      enabled: true,
      ...chain(on(event, { fields: ['team'] }), note(`${event} {{trigger.before.name}}[{{trigger.changed}}]`)),
    })
  const id = await create({ name: 'Ann' })
  await w.drain()
  await remove(id)
  await w.drain()
  t.deepEqual(await noted(org), ['created []', 'deleted []'])
})

test('record triggers: a filter judges the record as the change left it, a deleted one as it was', async (t) => {
  const w = await shared()
  const org = await createOrg(w)
  const { create, change, remove } = await staff(t, org)
  const filter = { any: [{ field: 'salary', op: 'gte', value: '200' }, { all: [{ field: 'team', op: 'eq', value: 'south' }] }] }
  for (const event of ['created', 'updated', 'deleted'])
    await createFlow(t, org, { enabled: true, ...chain(on(event, { filter }), note(`${event} {{trigger.record.name}}`)) })
  const [ann, bob] = [await create({ name: 'Ann', salary: 100 }), await create({ name: 'Bob', salary: 200 })]
  await w.drain()
  await change(ann, { team: 'south' })
  await change(bob, { salary: 100 })
  // The job of a change may run after the next one: what the change left counts.
  await change(ann, { team: 'north' })
  await w.drain()
  await remove(ann)
  await remove(await create({ name: 'Cas', team: 'south' }))
  await w.drain()
  t.deepEqual((await noted(org)).toSorted(), ['created Bob', 'created Cas', 'deleted Cas', 'updated Ann'])
})

const leaf = { field: 'name', op: 'eq', value: 'x' }
const wrong: readonly (readonly [settings: object, message: RegExp])[] = [
  [{ fields: ['salary', 'nmae'] }, /^fields must be a field of staff that you may read, got nmae$/],
  [{ filter: { field: 'nmae', op: 'eq', value: 'x' } }, /^filter\.field must be a field of staff that you may read, got nmae$/],
  [{ filter: [{ field: 'place.name', op: 'eq', value: 'x' }] }, /^filter\[0\]\.field must .*place\.name/],
  [{ filter: [{ field: 'salary', op: 'has', value: '1' }] }, /^filter\[0\]\.op must be one of /],
  [{ filter: [{ field: 'salary', op: 'gt', value: 'x' }] }, /^filter\[0\]\.value for salary must be /],
  [{ filter: [{ field: 'name', op: 'eq', value: '{{context.name}}' }] }, /^filter must hold no references/],
  [{ filter: Array.from({ length: 51 }, () => leaf) }, /^filter must have at most 50 conditions$/],
  [{ filter: { all: [{ any: [{ not: { all: [{ not: leaf }] } }] }] } }, /filter must have at most 4 levels/],
]

test('record triggers: a filter or a watched field that does not fit the type is a problem', async (t) => {
  const w = await shared()
  const org = await createOrg(w)
  await staff(t, org)
  for (const [settings, message] of wrong) {
    const flow = await createFlow(t, org, { enabled: true, ...chain(on('updated', settings), note('x')) })
    t.is(flow.problems.length, 1, JSON.stringify([settings, flow.problems]))
    t.like(flow.problems[0], { node_id: 't' })
    t.regex(flow.problems[0].message, message)
    t.false(flow.enabled)
  }
  for (const filter of [[], { any: [] }, Array.from({ length: 50 }, () => leaf), { all: [{ any: [{ not: { all: [leaf] } }] }] }]) {
    const flow = await createFlow(t, org, { enabled: true, ...chain(on('updated', { filter, fields: ['salary'] }), note('x')) })
    t.deepEqual(flow.problems, [])
    t.true(flow.enabled)
  }
})

test('record triggers: a field that is hidden from the editor is tested by no trigger, and no run gets its values', async (t) => {
  const w = await shared()
  const org = await createOrg(w)
  const { create, change } = await staff(t, org)
  const masked = await createMember(w, org, [flowRights, writes, reads({ fields: { deny: ['salary'] } })])
  const tests = [{ filter: [{ field: 'salary', op: 'gt', value: '1' }] }, { fields: ['salary'] }]
  for (const settings of tests) {
    const body = chain(on('updated', settings), note('hidden'))
    const flow = await createFlow(t, org, { enabled: true, ...body }, masked.client)
    t.regex(flow.problems[0].message, /must be a field of staff that you may read, got salary$/)
    t.false(flow.enabled)
    const enabling = await org.owner.put(`${org.path}/flows/${flow.id}`, { enabled: true })
    t.is(enabling.status, 400, 'the editor counts, not the caller')
    const [shown] = (await org.owner.get(`${org.path}/flows`)).data.filter(({ id }: { id: string }) => id === flow.id)
    t.is(shown.problems.length, 1)
  }
  const open = chain(on('updated'), note('{{trigger.before.name}} {{trigger.before.salary}}[{{trigger.changed}}]'))
  await createFlow(t, org, { enabled: true, ...open }, masked.client)
  const id = await create({ name: 'Ann', salary: 100 })
  await change(id, { name: 'Anne', salary: 200 })
  await w.drain()
  t.deepEqual(await noted(org), ['Ann [["name"]]'])
})

test('record triggers: a flow whose editor lost the field starts no run', async (t) => {
  const w = await shared()
  const org = await createOrg(w)
  const { create, change } = await staff(t, org)
  const member = await createMember(w, org, [flowRights, writes, reads()])
  const filter = [{ field: 'salary', op: 'gt', value: '1' }]
  const flow = await createFlow(t, org, { enabled: true, ...chain(on('updated', { filter }), note('ran')) }, member.client)
  t.true(flow.enabled, JSON.stringify(flow.problems))
  const id = await create({ name: 'Ann', salary: 100 })
  await change(id, { salary: 200 })
  await w.drain()
  t.deepEqual(await noted(org), ['ran'])
  await unassignRoles(w.db, member.id)
  const denied = await createRole(w, org, [flowRights, writes, reads({ fields: { deny: ['salary'] } })])
  await assignRole(w.db, org.id, denied, member.id)
  await change(id, { salary: 300 })
  await w.drain()
  t.deepEqual(await noted(org), ['ran'])
  t.is((await org.owner.get(`${org.path}/flows/${flow.id}`)).data.problems.length, 1)
})

test('record triggers: earlier values of a record that the editor could not read then are left out', async (t) => {
  const w = await shared()
  const org = await createOrg(w)
  const { create, change } = await staff(t, org)
  const north = await createMember(w, org, [flowRights, writes, reads({ condition: { 'resource.team': { eq: 'north' } } })])
  const text = '{{trigger.before.name}}{{trigger.before.team}}>{{trigger.record.name}} {{trigger.changed}}'
  await createFlow(t, org, { enabled: true, ...chain(on('updated', { fields: ['team', 'name'] }), note(text)) }, north.client)
  const id = await create({ name: 'Ann', team: 'south' })
  for (const values of [{ team: 'north', name: 'Anne' }, { name: 'Ada' }, { team: 'south' }]) await change(id, values)
  await w.drain()
  t.deepEqual((await noted(org)).toSorted(), ['>Anne ["name","team"]', 'Annenorth>Ada ["name"]'])
})

test('record triggers: what a run knows of earlier values is shown, and rehearsed, only to callers who may read them', async (t) => {
  const w = await shared()
  const org = await createOrg(w)
  const { create, change } = await staff(t, org)
  const masked = await createMember(w, org, [flowRights, writes, reads({ fields: { deny: ['salary'] } })])
  const keep = (list: string) => ({ list, clauses: [{ left: '{{item}}', op: 'is_not_empty' }] })
  const blocks = [
    ['b', 'logic.filter', keep('["{{trigger.before.salary}}"]')],
    ['c', 'logic.filter', keep('{{trigger.changed}}')],
  ] as const
  const flow = await createFlow(t, org, {
    enabled: true,
    ...chain(on('updated'), ...blocks, note('{{trigger.before.salary}} {{trigger.changed}}')),
  })
  const id = await create({ name: 'Ann', salary: 100 })
  await change(id, { salary: 200, name: 'Anne' })
  await w.drain()
  const [run] = await runsOf(org, flow.id)
  const shown = async (client = org.owner) => outputsOf(await runOf(org, flow.id, run.id, client))
  t.like(await shown(), { b: { items: ['100'] }, c: { items: ['name', 'salary'] } })
  const { b, c } = await shown(masked.client)
  t.deepEqual([b, c], [undefined, undefined])
  const rehearsed = await masked.client.post(`${org.path}/flows/${flow.id}/rehearse`, {})
  t.deepEqual(
    rehearsed.data.runs[0].created.map(({ values }: { values: { name: string } }) => values.name),
    [' ["name"]'],
    rehearsed.text,
  )
  const blind = await createMember(w, org, [flowRights, writes])
  const unseen = await blind.client.post(`${org.path}/flows/${flow.id}/rehearse`, {})
  t.false(unseen.text.includes('name\\"'), unseen.text)
})

test('record triggers: an id of another workspace matches nothing', async (t) => {
  const w = await shared()
  const [org, other] = [await createOrg(w), await createOrg(w)]
  const { create } = await staff(t, org)
  const theirs = await (await staff(t, other)).create({ name: 'Theirs' })
  const filter = [{ field: 'id', op: 'eq', value: theirs }]
  const flow = await createFlow(t, org, { enabled: true, ...chain(on('created', { filter }), note('x')) })
  t.true(flow.enabled)
  await create({ name: 'Ours' })
  await other.owner.post(`${other.path}/records/staff`, { values: { name: 'Another' } })
  await w.drain()
  t.deepEqual(await runsOf(org, flow.id), [])
})

test('record triggers: an earlier value of a run that starts by hand is empty', async (t) => {
  const w = await shared()
  const org = await createOrg(w)
  const flow = await createFlow(t, org, chain(byHand, note('[{{trigger.before.name}}{{trigger.changed}}]')))
  await org.owner.post(`${org.path}/flows/${flow.id}/run`, {})
  await w.drain()
  t.deepEqual(await noted(org), ['[]'])
})

test('record triggers: a stored setting of an earlier release is a problem, and stops no other flow', async (t) => {
  const w = await shared()
  const org = await createOrg(w)
  const { create, change } = await staff(t, org)
  const stored = await createFlow(t, org, { enabled: true, ...chain(on('updated'), note('stored')) })
  const sound = await createFlow(t, org, { enabled: true, ...chain(on('updated'), note('sound')) })
  await storeTrigger(w.db, stored.id, 'trigger.record_event', { object_type: 'staff', event: 'updated', fields: 'salary' })
  const problemsOf = async () => (await org.owner.get(`${org.path}/flows/${stored.id}`)).data.problems
  t.deepEqual(await problemsOf(), [{ node_id: 't', message: 'fields must be a list of field keys' }])
  await change(await create({ name: 'Ann' }), { salary: 1 })
  await w.drain()
  t.deepEqual(await noted(org), ['sound'])
  t.is((await runsOf(org, sound.id)).length, 1)
  await storeTrigger(w.db, stored.id, 'trigger.schedule', { cron: 5, timezone: 2 })
  const [cron, timezone] = await problemsOf()
  t.regex(cron.message, /^cron must be a cron expression/)
  t.regex(timezone.message, /^timezone must be the IANA name of a time zone, such as Europe\/Berlin, got 2$/)
  t.is((await org.owner.get(`${org.path}/flows`)).status, 200)
})

test('record triggers: an event that reaches a flow whose trigger has changed since starts no run', async (t) => {
  const w = await shared()
  const org = await createOrg(w)
  const { create, change } = await staff(t, org)
  const sound = await createFlow(t, org, { enabled: true, ...chain(on('updated'), note('sound')) })
  for (const [type, config] of [
    ['trigger.record_event', { object_type: 'staff', event: 'deleted' }],
    ['trigger.record_event', { object_type: 'locations', event: 'updated' }],
    ['trigger.schedule', { cron: '0 0 1 1 *' }],
  ] as const) {
    const flow = await createFlow(t, org, { enabled: true, ...chain(on('updated'), note('changed')) })
    await storeTrigger(w.db, flow.id, type, config)
  }
  await change(await create({ name: 'Ann' }), { salary: 1 })
  await w.drain()
  t.deepEqual(await noted(org), ['sound'])
  t.is((await runsOf(org, sound.id)).length, 1)
})

test('record triggers: a run names its record only to callers who see the fields that its trigger tested', async (t) => {
  const w = await shared()
  const org = await createOrg(w)
  const { create, change, remove } = await staff(t, org)
  const reader = { effect: 'allow', actions: ['flows:read'] }
  const masked = await createMember(w, org, [reader, reads({ fields: { deny: ['salary'] } })])
  const seeing = await createMember(w, org, [reader, reads()])
  const flowOf = (settings: object) => createFlow(t, org, { enabled: true, ...chain(on('updated', settings), note('x')) })
  const filtered = await flowOf({ filter: [{ field: 'salary', op: 'gte', value: '100000' }] })
  const watching = await flowOf({ fields: ['salary'] })
  const open = await flowOf({ filter: [{ field: 'name', op: 'eq', value: 'Ann' }] })
  const id = await create({ name: 'Ann' })
  await change(id, { salary: 100_000 })
  await w.drain()
  const shownTo = (client: typeof org.owner) =>
    Promise.all(
      [filtered, watching, open].map(async (flow) => {
        const [run] = (await client.get(`${org.path}/flows/${flow.id}/runs`)).data
        const view = await runOf(org, flow.id, run.id, client)
        t.is(view.trigger.record_id, run.trigger.record_id)
        return run.trigger.record_id
      }),
    )
  for (const client of [org.owner, seeing.client]) t.deepEqual(await shownTo(client), [id, id, id])
  t.deepEqual(await shownTo(masked.client), [null, null, id])
  await remove(id)
  for (const client of [org.owner, seeing.client]) t.deepEqual(await shownTo(client), [id, id, id])
  t.deepEqual(await shownTo(masked.client), [null, null, id])
})
