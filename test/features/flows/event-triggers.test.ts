import test, { type ExecutionContext } from 'ava'
import { createRecord } from '#shared/core/records/create/create-record.ts'
import { requireRecordType } from '#shared/core/types/record-type.ts'
import { flowRights, makesNotes, note, noted, ofStaff, on, openStaff, reads, writes } from '#test/features/flows/event-support.ts'
import { readWaitingDeliveries } from '#test/features/flows/rows.ts'
import { byHand, chain, createFlow, outputsOf, runOf, runsOf, start } from '#test/features/flows/support.ts'
import type { Client } from '#test/support/client.ts'
import { numberEvents } from '#test/support/events.ts'
import { createMember } from '#test/support/factories.ts'
import { lockRows } from '#test/support/locks.ts'
import { setWorkspaceStatus } from '#test/support/rows.ts'
import { scopeOf } from '#test/support/scope.ts'
import type { Answer } from '#test/support/send-request.ts'
import { shareWorld } from '#test/support/shared-world.ts'

const shared = shareWorld(test)
const open = async (t: ExecutionContext) => openStaff(t, await shared())

test('event triggers: a flow reads an event as its editor may read it', async (t) => {
  const { w, org, create, change, remove, listen } = await open(t)
  const masked = await createMember(w, org, [
    flowRights,
    makesNotes,
    reads({ condition: { 'resource.team': { eq: 'north' } }, fields: { deny: ['salary'] } }),
  ])
  const text = '{{trigger.event.type}} {{trigger.event.data.view}} {{trigger.event.data.before}}>{{trigger.event.data.after}}'
  for (const type of ['records.created', 'records.updated', 'records.deleted']) await listen(on([type]), text, masked.client)
  const id = await create({ name: 'Ann', team: 'south', salary: 1 })
  await change(id, { name: 'planted' })
  await change(id, { team: 'north', salary: 2 })
  await change(id, { salary: 3 })
  await change(id, { name: 'Anna', salary: 4 })
  await change(id, { team: 'south', name: 'planted again' })
  await change(id, { team: 'north' })
  await remove(id)
  await w.drain()
  t.deepEqual(await noted(org), [
    'records.deleted left {"name":"planted again","team":"north"}>',
    'records.updated changed {"name":"planted"}>{"name":"Anna"}',
    'records.updated entered >{"team":"north"}',
    'records.updated entered >{"team":"north"}',
    'records.updated left >',
  ])
})

test('event triggers: a name with a wildcard hears all types that begin so, and a run says what started it', async (t) => {
  const { w, org, owner, path, create, remove } = await open(t)
  const flow = await createFlow(t, org, {
    enabled: true,
    nodes: [...chain(on(['records.*', 'records.created', 'roles.changed']), ofStaff, note('{{trigger.event.type}}')).nodes],
    edges: [
      { source: 't', target: 'c' },
      { source: 'c', source_handle: 'true', target: 'n' },
    ],
  })
  t.is(flow.trigger_kind, 'event')
  const id = await create({ name: 'Ann' })
  await remove(id)
  await owner.post(`${path}/iam/groups`, { name: 'Some', policy: [] })
  await w.drain()
  t.deepEqual(await noted(org), ['records.created', 'records.deleted'])
  const runs = await runsOf(org, flow.id)
  t.deepEqual(
    runs.map(({ trigger }) => trigger).toSorted((one, other) => one.event.localeCompare(other.event)),
    ['records.created', 'records.deleted'].map((event) => ({ kind: 'event', event, object_type: 'staff', record_id: id })),
  )
  const { runs_24h, by_trigger } = (await owner.get(`${path}/flows/overview`)).data
  t.is(by_trigger.event, 1)
  // The role, and two notes whose creation the runs caused are none of its events.
  t.deepEqual(runs_24h, { ok: 2, failed: 0, skipped: 1 })
})

test('event triggers: types of every standing family start runs, and carry their subjects', async (t) => {
  const { w, org, owner, path } = await open(t)
  const types = (await owner.get(`${path}/events/types`)).data.map(({ type }: { type: string }) => type)
  const all = await createFlow(t, org, { enabled: true, ...chain(on(types), byStop) })
  t.deepEqual(all.problems, [])
  const role = (await owner.post(`${path}/iam/groups`, { name: 'Some', policy: [] })).data.id
  const member = await createMember(w, org)
  await owner.delete(`${path}/members/${member.id}`)
  const fn = (await owner.post(`${path}/functions`, { name: 'f', source: 'function handler() { throw new Error("planted") }' })).data.id
  await owner.post(`${path}/functions/${fn}/invoke`, {})
  const other = await createFlow(t, org, chain(byHand, note('x')))
  const run = await start(t, org, other.id)
  await w.drain()
  const runs = (await owner.get(`${path}/flows/${all.id}/runs`)).data
  const started = new Map(runs.map(({ trigger }: Answer['data']) => [trigger.event, trigger.record_id]))
  t.is(started.get('roles.changed'), role)
  t.is(started.get('members.left'), member.id)
  t.true(started.has('functions.failed'))
  t.is(started.get('flows.run.finished'), run)
  t.true(started.has('records.created'))
})

const byStop = ['s', 'logic.filter', { list: '["{{trigger.event}}"]' }] as const

test('event triggers: a filter judges the record as the event left it, a deleted one as it was', async (t) => {
  const { w, org, create, change, remove, listen, owner, path } = await open(t)
  const filter = {
    any: [
      { field: 'salary', op: 'gte', value: '200' },
      {
        all: [
          { field: 'team', op: 'eq', value: 'south' },
          { field: 'name', op: 'not_empty' },
        ],
      },
    ],
  }
  await listen(on(['records.*', 'roles.*'], { filter }), '{{trigger.event.type}} {{trigger.event.subject.id}}')
  const [ann, bob] = [await create({ name: 'Ann', salary: 100 }), await create({ name: 'Bob', salary: 200 })]
  await change(ann, { team: 'south' })
  await change(ann, { salary: 150 })
  await change(bob, { salary: 100 })
  await change(ann, { team: 'north' })
  await remove(ann)
  const cas = await create({ name: 'Cas', team: 'south' })
  await remove(cas)
  // An event without a record matches no filter, nor does a record of a type without the fields.
  await owner.post(`${path}/iam/groups`, { name: 'Some', policy: [] })
  await owner.post(`${path}/records/notes`, { values: { text: 'not of staff' } })
  await w.drain()
  t.deepEqual(
    await noted(org),
    [
      `records.created ${bob}`,
      `records.created ${cas}`,
      `records.deleted ${cas}`,
      `records.updated ${ann}`,
      `records.updated ${ann}`,
      'not of staff',
    ].toSorted(),
  )
})

test('event triggers: a filter is judged by what the editor may read', async (t) => {
  const { w, org, create, change, listen } = await open(t)
  const north = await createMember(w, org, [flowRights, writes, reads({ condition: { 'resource.team': { eq: 'north' } } })])
  const masked = await createMember(w, org, [flowRights, writes, reads({ fields: { deny: ['salary'] } })])
  const hidden = await listen(on(['records.*'], { filter: [{ field: 'salary', op: 'gt', value: '1' }] }), 'hidden', masked.client)
  t.false(hidden.enabled)
  t.regex(hidden.problems[0].message, /^filter\[0\] must be a condition that fits a field of a record type itself, .*, got salary$/)
  // It left the sight of the editor, who cannot know its team now.
  const filter = [{ field: 'team', op: 'ne', value: 'west' }]
  await listen(on(['records.updated'], { filter }), '{{trigger.event.data.view}}', north.client)
  const id = await create({ name: 'Ann', team: 'north' })
  await change(id, { team: 'south' })
  await change(id, { team: 'north' })
  await change(id, { name: 'Anna' })
  await w.drain()
  t.deepEqual(await noted(org), ['changed', 'entered'])
})

const leaf = { field: 'name', op: 'eq', value: 'x' }
const wrong: readonly (readonly [settings: object, message: RegExp])[] = [
  [{}, /^types is required$/],
  [{ types: [] }, /^types must name at least one type of events$/],
  [{ types: ['records.created', 'records.changed'] }, /^types: there is no type "records.changed"; GET \/events\/types lists them$/],
  [{ types: ['record.*'] }, /^types: there is no type "record\.\*"/],
  [{ types: ['*'] }, /^types: there is no type "\*"/],
  [{ types: Array.from({ length: 101 }, () => 'records.*') }, /^types must have at most 100 names, got 101$/],
  [{ types: ['records.*'], filter: { field: 'nmae', op: 'eq', value: 'x' } }, /^filter must be a condition that fits .*, got nmae$/],
  [{ types: ['records.*'], filter: [leaf, { field: 'place.name', op: 'eq', value: 'x' }] }, /^filter\[1\] must be .*, got place\.name$/],
  [
    { types: ['records.*'], filter: [leaf, { field: 'salary', op: 'has', value: '1' }] },
    /^filter\[1\]\.op must be one of .* for the number field salary, got "has" \(in staff\)$/,
  ],
  [{ types: ['records.*'], filter: { field: 'salary', op: 'gte' } }, /^filter\.value .* \(in staff\)$/],
  [
    { types: ['records.*'], filter: { field: 'salary', op: 'gte', value: 'x' } },
    /^filter\.value for salary must be a number, got "x" \(in staff\)$/,
  ],
  [
    {
      types: ['records.*'],
      filter: [
        { ...leaf, field: 'text' },
        { field: 'salary', op: 'is', value: '1' },
      ],
    },
    /^filter\[1\]\.op must be .* \(in staff\)$/,
  ],
  [{ types: ['x'.repeat(500)] }, /^types: there is no type "x{100}"; /],
  [
    { types: ['records.*'], filter: [{ field: 'team' }, { field: 'text' }].map((one) => ({ ...leaf, ...one })) },
    /^filter must fit one record type/,
  ],
  [{ types: ['records.*'], filter: [{ ...leaf, value: '{{context.name}}' }] }, /^filter must hold no references/],
  [{ types: ['records.*'], filter: Array.from({ length: 51 }, () => leaf) }, /^filter must have at most 50 conditions$/],
]

test('event triggers: a type that there is not, or a filter that fits no record type, is a problem', async (t) => {
  const { org, owner, path } = await open(t)
  for (const [settings, message] of wrong) {
    const flow = await createFlow(t, org, { enabled: true, ...chain(['t', 'trigger.event', settings], note('x')) })
    t.is(flow.problems.length, 1, JSON.stringify([settings, flow.problems]))
    t.like(flow.problems[0], { node_id: 't' })
    t.regex(flow.problems[0].message, message)
    t.false(flow.enabled)
    const enabling = await owner.put(`${path}/flows/${flow.id}`, { enabled: true })
    t.is(enabling.status, 400)
    t.regex(enabling.body.error.message, /^enabled cannot be true: t: /)
  }
  for (const types of ['records.*', [1], { records: true }]) {
    const { status } = await owner.post(`${path}/flows`, { name: 'x', ...chain(['t', 'trigger.event', { types }], note('x')) })
    t.is(status, 400, JSON.stringify(types))
  }
  const unknown = await owner.post(`${path}/flows`, { name: 'x', ...chain(['t', 'trigger.event', { type: ['records.*'] }], note('x')) })
  t.regex(unknown.body.error.message, /did you mean types\?/)
  const good = [
    { types: Array.from({ length: 100 }, () => 'records.*') },
    { types: ['forms.submitted'], filter: [leaf] },
    { types: ['ledger.entry.*'] },
  ]
  for (const settings of good) {
    const flow = await createFlow(t, org, { enabled: true, ...chain(['t', 'trigger.event', settings], note('x')) })
    t.deepEqual(flow.problems, [])
    t.true(flow.enabled)
  }
})

test('event triggers: a flow hears what happens while it is enabled, and keeps its place when it is saved again', async (t) => {
  const { w, org, create, change, listen, owner, path } = await open(t)
  const id = await create({ name: 'Ann' })
  // Numbering passes over the workspace until the flow is saved: it does not hear what was before.
  const heldFirst = await lockRows(t, w.db, 'feed_heads', 'workspace_id = $1', [org.id])
  await change(id, { name: 'before it is there' })
  const flow = await listen(on(['records.updated']), '{{trigger.event.data.after.name}}')
  await heldFirst.release()
  await w.drain()
  const put = async (body: object) => t.is((await owner.put(`${path}/flows/${flow.id}`, body)).status, 200)
  const held = await lockRows(t, w.db, 'feed_heads', 'workspace_id = $1', [org.id])
  await change(id, { name: 'heard' })
  await put(chain(on(['records.updated', 'roles.changed']), note('again {{trigger.event.data.after.name}}')))
  await held.release()
  await w.drain()
  t.deepEqual(await noted(org), ['again heard'])
  const heldAgain = await lockRows(t, w.db, 'feed_heads', 'workspace_id = $1', [org.id])
  await change(id, { name: 'before it is off' })
  await put({ enabled: false })
  await change(id, { name: 'while it is off' })
  await heldAgain.release()
  await w.drain()
  await put({ enabled: true })
  await change(id, { name: 'on' })
  await w.drain()
  t.deepEqual(await noted(org), ['again heard', 'again on'])
  t.is((await owner.delete(`${path}/flows/${flow.id}`)).status, 204)
  await change(id, { name: 'gone' })
  await w.drain()
  t.deepEqual(await noted(org), ['again heard', 'again on'])
})

test('event triggers: what a run knows of an event is shown, and rehearsed, only as far as the viewer may read it', async (t) => {
  const { w, org, create, change } = await open(t)
  const masked = await createMember(w, org, [flowRights, writes, reads({ fields: { deny: ['salary'] } })])
  const seeing = await createMember(w, org, [flowRights, writes, reads()])
  const blind = await createMember(w, org, [flowRights, writes])
  const keep = ['b', 'logic.filter', { list: '["{{trigger.event.data.before.salary}}"]' }] as const
  const flowOf = (settings: object) =>
    createFlow(t, org, {
      enabled: true,
      ...chain(on(['records.updated'], settings), keep, note('{{trigger.event.data.before.salary}} {{trigger.event.data.changed}}')),
    })
  const [plain, tested] = [await flowOf({}), await flowOf({ filter: [{ field: 'salary', op: 'gte', value: '200' }] })]
  const id = await create({ name: 'Ann', salary: 100 })
  await change(id, { salary: 200, name: 'Anne' })
  await w.drain()
  const viewed = async (flow: { id: string }, client: Client) => {
    const [run] = (await client.get(`${org.path}/flows/${flow.id}/runs`)).data
    const view = await runOf(org, flow.id, run.id, client)
    t.deepEqual(view.trigger, run.trigger)
    const { b } = outputsOf(view)
    return [view.trigger.event, view.trigger.record_id, b?.items]
  }
  for (const client of [org.owner, seeing.client])
    for (const flow of [plain, tested]) t.deepEqual(await viewed(flow, client), ['records.updated', id, ['100']])
  t.deepEqual(await viewed(plain, masked.client), ['records.updated', id, undefined])
  t.deepEqual(await viewed(tested, masked.client), [null, null, undefined])
  for (const flow of [plain, tested]) t.deepEqual(await viewed(flow, blind.client), [null, null, undefined])
  const rehearsed = async (client: Client) => {
    const answer = await client.post(`${org.path}/flows/${plain.id}/rehearse`, {})
    t.is(answer.status, 200, answer.text)
    return answer.data.runs[0].created.map(({ values }: { values: { text: string } }) => values.text)
  }
  t.deepEqual(await rehearsed(org.owner), ['100 ["name","salary"]'])
  t.deepEqual(await rehearsed(masked.client), [' ["name"]'])
  t.deepEqual(await rehearsed(blind.client), [' '])
  const untested = await masked.client.post(`${org.path}/flows/${tested.id}/rehearse`, {})
  t.deepEqual(untested.data.runs[0].created[0].values.text, ' ')
})

test('event triggers: no run tells a reader of masked records which changes left the hidden field alone', async (t) => {
  const { w, org, create, change } = await open(t)
  const masked = await createMember(w, org, [flowRights, writes, reads({ fields: { deny: ['salary'] } })])
  const keep = ['b', 'logic.filter', { list: '{{trigger.event.data.changed}}' }] as const
  const flow = await createFlow(t, org, { enabled: true, ...chain(on(['records.updated']), keep) })
  const id = await create({ name: 'Ann', salary: 100 })
  await change(id, { name: 'Anne' })
  await change(id, { name: 'Anna', salary: 200 })
  await w.drain()
  const shown = async (client: Client) => {
    const runs = (await client.get(`${org.path}/flows/${flow.id}/runs`)).data
    const views = runs.map((run: { id: string }) => runOf(org, flow.id, run.id, client))
    return (await Promise.all(views)).map((view) => [view.trigger.record_id, outputsOf(view).b?.items ?? null])
  }
  t.is((await shown(org.owner)).length, 2)
  for (const [, items] of await shown(org.owner)) t.true(items.includes('name'))
  t.deepEqual(await shown(masked.client), [
    [id, null],
    [id, null],
  ])
})

test('event triggers: events of a suspended workspace are numbered, and start their runs afterwards', async (t) => {
  const { w, org, listen } = await open(t)
  await listen(on(['records.created', 'queues.*']), '{{trigger.event.type}}')
  await setWorkspaceStatus(w.db, org.id, 'suspended')
  const scope = await scopeOf(w, org)
  await createRecord(scope, await requireRecordType(scope, 'staff'), { name: 'Ann' })
  await numberEvents({ ...w, org })
  t.is((await readWaitingDeliveries(w.db, org.id)).length, 1)
  await setWorkspaceStatus(w.db, org.id, 'active')
  await w.drain()
  t.deepEqual(await noted(org), ['records.created'])
})

test('event triggers: what a recompute changes starts runs, and its filter is judged on the whole record', async (t) => {
  const { w, org, create, listen, owner, path } = await open(t)
  const filter = [{ field: 'team', op: 'eq', value: 'north' }]
  await listen(on(['records.updated'], { filter }), '{{trigger.event.cause.kind}} {{trigger.event.data.after.double}}')
  await create({ name: 'Ann', team: 'north', salary: 2 })
  await create({ name: 'Bob', team: 'south', salary: 3 })
  await w.drain()
  const { data: field } = await owner.post(`${path}/fields`, { entity_type: 'staff', key: 'double', label: 'double', type: 'number' })
  await owner.put(`${path}/fields/${field.id}/formula`, { formula: 'salary * 2' })
  await w.drain()
  t.deepEqual(await noted(org), ['recompute 4'])
})
