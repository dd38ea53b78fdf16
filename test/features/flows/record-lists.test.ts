import test, { type ExecutionContext } from 'ava'
import { byHand, chain, createFlow, ended, outputsOf, play, recordsOf, runOf, start } from '#test/features/flows/support.ts'
import { readCauses } from '#test/support/audit.ts'
import { createMember, createOrg, type Org } from '#test/support/factories.ts'
import { shareWorld } from '#test/support/shared-world.ts'

const shared = shareWorld(test)

const flowRights = { effect: 'allow', actions: ['flows:read', 'flows:create', 'flows:update', 'flows:run'] }
const reads = (more: object = {}) => ({ effect: 'allow', actions: ['records:read'], resources: ['staff'], ...more })

/** A workspace with people of a name, a salary and a team. */
async function staff(t: ExecutionContext, org: Org) {
  await org.owner.post(`${org.path}/types`, { key: 'staff', label: 'Staff' })
  for (const [key, type] of [
    ['name', 'string'],
    ['salary', 'number'],
    ['team', 'string'],
  ]) {
    const made = await org.owner.post(`${org.path}/fields`, { entity_type: 'staff', key, label: key, type })
    t.is(made.status, 201, made.text)
  }
  const ids: Record<string, string> = {}
  for (const [name, salary, team] of [
    ['Ann', 100, 'north'],
    ['Bob', 200, 'north'],
    ['Cas', 300, 'south'],
  ] as const) {
    ids[name] = (await org.owner.post(`${org.path}/records/staff`, { values: { name, salary, team } })).data.id
  }
  return ids
}

const find = (config: object) => ['f', 'action.find_records', { object_type: 'staff', ...config }] as const
const remove = (config: object) => ['d', 'action.delete_record', { object_type: 'staff', ...config }] as const
const namesIn = ({ records }: { records: { values: { name: string } }[] }) => records.map(({ values }) => values.name)

test('record lists: a block finds records by a filter that the run fills in, in its order, up to its limit', async (t) => {
  const w = await shared()
  const org = await createOrg(w)
  await staff(t, org)
  const found = async (config: object, input?: unknown) => {
    const run = await play(t, org, chain(byHand, find(config)), input)
    t.is(run.status, 'ok', JSON.stringify(run))
    const output = outputsOf(run).f
    t.is(output.count, output.records.length)
    return namesIn(output)
  }
  t.deepEqual(await found({ sort: 'salary', dir: 'asc' }), ['Ann', 'Bob', 'Cas'])
  t.deepEqual(await found({ sort: 'salary', dir: 'asc', limit: 2 }), ['Ann', 'Bob'])
  t.deepEqual(await found({ filter: { field: 'salary', op: 'gte', value: '{{trigger.input.least}}' } }, { least: 200 }), ['Cas', 'Bob'])
  const either = { any: [{ field: 'team', op: 'eq', value: '{{trigger.input.team}}' }, { not: { field: 'name', op: 'ne', value: 'Ann' } }] }
  t.deepEqual(await found({ filter: either, sort: 'name', dir: 'asc' }, { team: 'south' }), ['Ann', 'Cas'])
  t.deepEqual(await found({ filter: [{ field: 'name', op: 'in', value: '{{trigger.input.names}}' }] }, { names: ['Bob', 'Zed'] }), ['Bob'])
  t.deepEqual(await found({ filter: '{{trigger.input.filter}}' }, { filter: [{ field: 'team', op: 'eq', value: 'south' }] }), ['Cas'])
  t.deepEqual(await found({ filter: '[{"field":"name","op":"eq","value":"Zed"}]' }), [])
})

test('record lists: a filter as JSON text is read as it is written, so that no value becomes a part of it', async (t) => {
  const w = await shared()
  const org = await createOrg(w)
  await staff(t, org)
  const name = 'x","op":"ne","value":"y'
  const pipe = '12" pipe'
  for (const value of [name, pipe]) await org.owner.post(`${org.path}/records/staff`, { values: { name: value } })
  const named = find({ filter: '[{"field":"name","op":"eq","value":"{{trigger.input.name}}"}]' })
  for (const value of [name, pipe]) {
    const run = await play(t, org, chain(byHand, named), { name: value })
    t.is(run.status, 'ok', run.error)
    t.deepEqual(namesIn(outputsOf(run).f), [value])
  }
  const hidden = '[{"field":"name","op":"eq","value":"\\u007b{trigger.input.name}}"}]'
  const encoded = JSON.stringify('[{"field":"name","op":"eq","value":"{{trigger.input.name}}"}]')
  for (const filter of ['[{"field":"salary","op":"gt","value":{{trigger.input.name}}}]', hidden, encoded, '{{context.a}}{{context.b}}']) {
    const run = await play(t, org, chain(byHand, find({ filter })), { name: '1' })
    t.regex(run.error, /^VALIDATION_ERROR at f: filter must/, filter)
  }
})

test('record lists: what a filter cannot be once it is filled in fails the step', async (t) => {
  const w = await shared()
  const org = await createOrg(w)
  await staff(t, org)
  const errorOf = async (config: object, input: unknown) => (await play(t, org, chain(byHand, find(config)), input)).error
  t.regex(
    await errorOf({ filter: [{ field: 'salary', op: 'gt', value: '{{trigger.input.x}}' }] }, { x: 'many' }),
    /^VALIDATION_ERROR at f: filter/,
  )
  const emptied = /^VALIDATION_ERROR at f: filter.* is empty once its references are replaced$/
  for (const filter of [
    '{{trigger.input.y}}',
    [{ field: 'name', op: 'contains', value: '{{trigger.input.y}}' }],
    { not: { field: 'name', op: 'starts_with', value: '{{trigger.input.y}}{{trigger.input.y}}' } },
    '[{"field":"name","value":"{{trigger.input.y}}"}]',
  ])
    t.regex(await errorOf({ filter }, { x: 1 }), emptied)
  const none: readonly (readonly [filter: unknown, value: unknown])[] = [
    ['{{trigger.input.x}}', []],
    ['{{trigger.input.x}}', '{"all": []}'],
    [{ all: '{{trigger.input.x}}' }, []],
    [['{{trigger.input.x}}', { not: { any: [] } }], [[]]],
    [{ not: { any: '{{trigger.input.x}}' } }, []],
  ]
  for (const [filter, x] of none) t.regex(await errorOf({ filter }, { x }), emptied, JSON.stringify(filter))
  t.is(await errorOf({ filter: { any: '{{trigger.input.x}}' } }, { x: [] }), undefined, 'finds none')
  t.is(await errorOf({ filter: { all: [] } }, {}), undefined, 'is written so')
  t.is(await errorOf({ filter: [{ field: 'name', op: 'contains', value: '' }] }, {}), undefined)
  t.regex(await errorOf({ limit: '{{trigger.input.x}}' }, { x: 101 }), /^VALIDATION_ERROR at f: limit must be a whole number from 1 to 100/)
  t.regex(await errorOf({ object_type: '{{trigger.input.x}}' }, { x: 'nowhere' }), /^NOT_FOUND at f/)
})

const wrong: readonly (readonly [config: object, message: RegExp])[] = [
  [{ filter: [{ field: 'nmae', op: 'eq', value: 'x' }] }, /^filter\[0\]\.field must be a field of staff that you may read, got nmae$/],
  [{ filter: { any: [{ field: 'salary', op: 'contains', value: '1' }] } }, /^filter\.any\[0\]\.op must be one of /],
  [{ filter: { field: 'salary', op: 'gt', value: 'x' } }, /^filter\.value for salary must be /],
  [{ filter: { all: [], any: [] } }, /^filter must have no other key beside all/],
  [{ filter: { field: 'nmae', op: 'eq', value: '{{trigger.input}}' } }, /^filter\.field must be a field of staff/],
  [{ filter: '[{"field":"nmae","op":"eq","value":"{{trigger.input}}"}]' }, /^filter\[0\]\.field must be a field of staff/],
  [{ filter: '[{"field":"salary","op":"gt","value":{{trigger.input}}}]' }, /^filter must be the JSON of/],
  [{ filter: '{{context.a}}{{context.b}}' }, /^filter must be the JSON of/],
  [{ sort: 'nmae' }, /^sort must be a field of staff/],
  [{ sort: 'name', dir: 'up' }, /^dir must be asc or desc/],
  [{ limit: 0 }, /^limit must be a whole number from 1 to 100/],
  [{ limit: 101 }, /^limit must be a whole number from 1 to 100/],
]

test('record lists: a filter, an order and a limit that a list would refuse are problems', async (t) => {
  const w = await shared()
  const org = await createOrg(w)
  await staff(t, org)
  for (const [config, message] of wrong) {
    const flow = await createFlow(t, org, { enabled: true, ...chain(byHand, find(config)) })
    t.is(flow.problems.length, 1, JSON.stringify([config, flow.problems]))
    t.regex(flow.problems[0].message, message)
    t.false(flow.enabled)
  }
  const sound = { filter: [{ field: 'salary', op: 'gt', value: '{{trigger.input}}' }], sort: '{{context.x}}', limit: '100' }
  t.deepEqual((await createFlow(t, org, chain(byHand, find(sound)))).problems, [])
  const [listed] = (await org.owner.get(`${org.path}/flows`)).data
  t.is(listed.problems.length, 1, 'a list shows the problems, too')
})

test('record lists: a block finds what the editor of the flow may read, and tests no field that is hidden from it', async (t) => {
  const w = await shared()
  const org = await createOrg(w)
  await staff(t, org)
  const north = await createMember(w, org, [flowRights, reads({ condition: { 'resource.team': { eq: 'north' } } })])
  const masked = await createMember(w, org, [flowRights, reads({ fields: { deny: ['salary'] } })])
  const runAs = async (client: typeof org.owner, config: object) => {
    const flow = await createFlow(t, org, chain(byHand, find(config)), client)
    return { flow, run: await ended(org, flow.id, await start(t, org, flow.id)) }
  }
  const ofNorth = await runAs(north.client, { sort: 'name', dir: 'asc' })
  t.deepEqual(namesIn(outputsOf(ofNorth.run).f), ['Ann', 'Bob'])
  const ofMasked = await runAs(masked.client, { sort: 'name', dir: 'asc' })
  t.deepEqual(Object.keys(outputsOf(ofMasked.run).f.records[0].values), ['name', 'team'])
  const testing = { filter: [{ field: 'salary', op: 'gt', value: '{{context.least}}' }] }
  const hidden = await runAs(masked.client, testing)
  t.regex(hidden.flow.problems[0].message, /^filter\[0\]\.field must be a field of staff that you may read, got salary$/)
  t.is(hidden.run.status, 'failed')
  t.deepEqual((await createFlow(t, org, chain(byHand, find(testing)))).problems, [])
})

test('record lists: found records are shown to callers who may read all that was tested, and to no others', async (t) => {
  const w = await shared()
  const org = await createOrg(w)
  await staff(t, org)
  const [all, masked, north] = [
    await createMember(w, org, [{ effect: 'allow', actions: ['flows:read'] }, reads()]),
    await createMember(w, org, [flowRights, reads({ fields: { deny: ['salary'] } })]),
    await createMember(w, org, [flowRights, reads({ condition: { 'resource.team': { eq: 'north' } } })]),
  ]
  const filter = [{ field: 'salary', op: 'gt', value: '150' }]
  const keep = { list: '{{steps.f.records}}', clauses: [{ left: '{{item.id}}', op: 'is_not_empty' }] }
  const flow = await createFlow(t, org, chain(byHand, find({ filter }), ['k', 'logic.filter', keep]))
  const run = await ended(org, flow.id, await start(t, org, flow.id))
  const shown = async (client = org.owner) => outputsOf(await runOf(org, flow.id, run.id, client))
  t.deepEqual(namesIn((await shown()).f), ['Cas', 'Bob'])
  t.deepEqual(namesIn((await shown(all.client)).f), ['Cas', 'Bob'])
  for (const { client } of [masked, north]) t.deepEqual(await shown(client), { f: undefined, k: undefined })
})

test('record lists: the words of a failure tell found records only to callers who may see them', async (t) => {
  const w = await shared()
  const org = await createOrg(w)
  await staff(t, org)
  const masked = await createMember(w, org, [flowRights, reads({ fields: { deny: ['salary'] } })])
  const all = await createMember(w, org, [flowRights, reads()])
  const day = { calendar_key: 'team', title: 'x', start: '2027-01-01T10:00:00Z' }
  const found = find({ filter: [{ field: 'salary', op: 'gt', value: '250' }] })
  const failing = ['e', 'action.create_event', { ...day, all_day: '{{steps.f.records.0.values.name}}' }] as const
  const flow = await createFlow(t, org, chain(byHand, found, failing))
  const run = await ended(org, flow.id, await start(t, org, flow.id))
  t.is(run.status, 'failed')
  const errorsFor = async (client = org.owner): Promise<string[]> => {
    const view = await runOf(org, flow.id, run.id, client)
    const [own] = (await client.get(`${org.path}/flows/${flow.id}/runs`)).data
    const [any] = (await client.get(`${org.path}/flows/runs?flow=${flow.id}`)).data.runs
    return [view.error, view.steps.at(-1).error, own.error, any.error]
  }
  for (const client of [org.owner, all.client]) for (const error of await errorsFor(client)) t.regex(error, /cas$/)
  t.deepEqual(await errorsFor(masked.client), Array(4).fill('VALIDATION_ERROR at e'))
})

test('record lists: a block deletes a record, and fails where there is none for the editor', async (t) => {
  const w = await shared()
  const [org, other] = [await createOrg(w), await createOrg(w)]
  const ids = await staff(t, org)
  const theirs = (await other.owner.post(`${other.path}/records/locations`, { values: { name: 'Theirs' } })).data.id
  const deleteOf = (record_id: unknown) => play(t, org, chain(byHand, remove({ record_id })))
  const run = await deleteOf(ids.Ann)
  t.is(run.status, 'ok', JSON.stringify(run))
  t.deepEqual(outputsOf(run).d, { id: ids.Ann, object_type: 'staff' })
  t.regex((await deleteOf(ids.Ann)).error, /^NOT_FOUND at d/)
  const foreign = chain(byHand, ['d', 'action.delete_record', { object_type: 'locations', record_id: theirs }])
  t.regex((await play(t, org, foreign)).error, /^NOT_FOUND at d/)
  t.is((await other.owner.get(`${other.path}/records/locations/${theirs}`)).status, 200)
  const entries = await org.owner.get(`${org.path}/audit?record_id=${ids.Ann}&action=record.deleted`)
  t.is(entries.data.entries?.[0]?.request_id ?? entries.data[0]?.request_id, run.id, entries.text)
  t.deepEqual(await readCauses(org, 'action=record.deleted'), [['deleted staff: flow', run.id]])
  const reader = await createMember(w, org, [flowRights, reads()])
  const flow = await createFlow(t, org, chain(byHand, remove({ record_id: ids.Bob })), reader.client)
  t.regex((await ended(org, flow.id, await start(t, org, flow.id))).error, /^FORBIDDEN at d/)
  const limited = await createMember(w, org, [
    flowRights,
    {
      effect: 'allow',
      actions: ['records:read', 'records:delete'],
      resources: ['staff'],
      condition: { 'resource.team': { eq: 'north' } },
    },
  ])
  const hidden = await createFlow(t, org, chain(byHand, remove({ record_id: ids.Cas })), limited.client)
  t.regex((await ended(org, hidden.id, await start(t, org, hidden.id))).error, /^NOT_FOUND at d/)
  const visible = await createFlow(t, org, chain(byHand, remove({ record_id: ids.Bob })), limited.client)
  t.is((await ended(org, visible.id, await start(t, org, visible.id))).status, 'ok')
  t.deepEqual(
    (await recordsOf(org, 'staff')).map(({ name }) => name),
    ['Cas'],
  )
})

test('record lists: an id in capital letters is given on, and shown, as the record has it', async (t) => {
  const w = await shared()
  const org = await createOrg(w)
  const { Ann = '' } = await staff(t, org)
  const viewer = await createMember(w, org, [flowRights, reads({ condition: { 'resource.team': { eq: 'south' } } })])
  const change = ['c', 'action.update_record', { object_type: 'staff', record_id: Ann.toUpperCase(), values: { team: 'south' } }] as const
  const flow = await createFlow(t, org, chain(byHand, change))
  const run = await ended(org, flow.id, await start(t, org, flow.id))
  const shown = outputsOf(await runOf(org, flow.id, run.id, viewer.client)).c
  t.like(shown, { id: Ann, values: { name: 'Ann', team: 'south' } })
  const deleted = await play(t, org, chain(byHand, remove({ record_id: ` ${Ann.toUpperCase()} ` })))
  t.deepEqual(outputsOf(deleted).d, { id: Ann, object_type: 'staff' })
})

test('record lists: a rehearsal says what would be deleted, and deletes nothing', async (t) => {
  const w = await shared()
  const org = await createOrg(w)
  const ids = await staff(t, org)
  const flow = await createFlow(t, org, chain(byHand))
  await ended(org, flow.id, await start(t, org, flow.id))
  const body = chain(
    byHand,
    ['c', 'action.create_record', { object_type: 'staff', values: { name: 'Dan' } }],
    ['e', 'action.delete_record', { object_type: 'staff', record_id: '{{steps.c.id}}' }],
    find({ filter: [{ field: 'team', op: 'eq', value: 'south' }] }),
    remove({ record_id: '{{steps.f.records.0.id}}' }),
  )
  const { status, data, text } = await org.owner.post(`${org.path}/flows/${flow.id}/rehearse`, body)
  t.is(status, 200, text)
  t.like(data.runs[0], { status: 'ok', error: null, created: [], changed: [], deleted: [{ object_type: 'staff', record_id: ids.Cas }] })
  t.is(data.runs[0].deleted.length, 1)
  t.is((await recordsOf(org, 'staff')).length, 3)
})
