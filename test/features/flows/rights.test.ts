import test from 'ava'
import { countUpdates, endWait, waitUntilParked } from '#test/features/flows/rows.ts'
import {
  byHand,
  chain,
  createFlow,
  ended,
  endedRuns,
  graph,
  lockLocations,
  outputsOf,
  recordsOf,
  runOf,
  runsOf,
  start,
} from '#test/features/flows/support.ts'
import { createMember, createRole } from '#test/support/factories.ts'
import { assignRole, countDeadLetters, unassignRoles } from '#test/support/rows.ts'
import { shareWorld } from '#test/support/shared-world.ts'

const shared = shareWorld(test)

const allow = (actions: string[], more: object = {}) => ({ effect: 'allow', actions, ...more })
const ofFlows = allow(['flows:read', 'flows:create', 'flows:update', 'flows:run'])
const location = (id: string, name: string) => [id, 'action.create_record', { object_type: 'locations', values: { name } }] as const

test('rights: a flow has exactly the rights of its last editor, independent of its starter', async (t) => {
  const w = await shared()
  const { org } = w
  const weak = await createMember(w, org, [ofFlows])
  const body = chain(byHand, location('a', 'x'))
  const flow = await createFlow(t, org, body, weak.client)
  const failed = await ended(org, flow.id, await start(t, org, flow.id))
  t.like(failed, { status: 'failed', error: 'FORBIDDEN at a: Needs records:create on locations' })
  await org.owner.put(`${org.path}/flows/${flow.id}`, { ...body, context: { mine: 'now' } })
  const { data } = await weak.client.post(`${org.path}/flows/${flow.id}/run`, {})
  t.is((await ended(org, flow.id, data.run_id)).status, 'ok')
})

test('rights: rights are checked at every step, so an editor that loses a role stops the run', async (t) => {
  const w = await shared()
  const { org } = w
  const editor = await createMember(w, org, [ofFlows, allow(['records:create'], { resources: ['locations'] })])
  const flow = await createFlow(
    t,
    org,
    chain(byHand, location('a', 'one'), ['w', 'logic.wait', { minutes: '10' }], location('b', 'two'), location('c', 'three')),
    editor.client,
  )
  const runId = await start(t, org, flow.id)
  await waitUntilParked(w.db, runId)
  await unassignRoles(w.db, editor.id)
  await endWait(w.db, runId)
  const run = await ended(org, flow.id, runId)
  t.like(run, { status: 'failed', error: 'FORBIDDEN at b: Needs records:create on locations' })
  t.deepEqual(
    run.steps.map(({ node_id }: typeof run) => node_id),
    ['a', 'w', 'b'],
  )
})

const renaming = [
  'b',
  'action.update_record',
  { object_type: 'locations', record_id: '{{trigger.input}}', values: { name: 'new' } },
] as const

test('rights: a step keeps the rights of its start, and the next step has the rights of its own start', async (t) => {
  const w = await shared()
  const { org } = w
  const editor = await createMember(w, org, [ofFlows, allow(['records:*'], { resources: ['locations'] })])
  const flow = await createFlow(t, org, chain(byHand, renaming, location('c', 'more')), editor.client)
  const { id } = (await org.owner.post(`${org.path}/records/locations`, { values: { name: 'old' } })).data
  const held = await lockLocations(t, w, org)
  const runId = await start(t, org, flow.id, id)
  await held.waitedFor()
  await unassignRoles(w.db, editor.id)
  await held.release()
  t.like(await ended(org, flow.id, runId), { status: 'failed', error: 'FORBIDDEN at c: Needs records:create on locations' })
  t.deepEqual(
    (await recordsOf(org, 'locations')).map(({ name }) => name),
    ['new'],
  )
})

test('rights: a step during which rights of other people change is executed once', async (t) => {
  const w = await shared()
  const { org } = w
  const flow = await createFlow(t, org, chain(byHand, renaming, location('c', 'more')))
  const { id } = (await org.owner.post(`${org.path}/records/locations`, { values: { name: 'old' } })).data
  const held = await lockLocations(t, w, org)
  const runId = await start(t, org, flow.id, id)
  await held.waitedFor()
  await createMember(w, org, [ofFlows])
  await held.release()
  const run = await ended(org, flow.id, runId)
  t.is(run.status, 'ok', run.error)
  t.deepEqual(
    (await recordsOf(org, 'locations')).map(({ name }) => name),
    ['new', 'more'],
  )
  t.is(await countUpdates(w.db, id), 1)
})

test('rights: a run of an editor who has left fails with an error, and leaves no dead letter', async (t) => {
  const w = await shared()
  const { org } = w
  const editor = await createMember(w, org, [allow(['*'])])
  const flow = await createFlow(t, org, chain(byHand, location('a', 'one')), editor.client)
  await org.owner.delete(`${org.path}/members/${editor.id}`)
  const run = await ended(org, flow.id, await start(t, org, flow.id))
  t.like(run, { status: 'failed' })
  t.regex(run.error, /^FORBIDDEN at a: /)
  t.is(await countDeadLetters(w.db), 0)
})

test('rights: a record event shows the fields that the editor may read, and a record that the editor may not read starts no run', async (t) => {
  const w = await shared()
  const { org } = w
  const rule = allow(['records:read'], {
    resources: ['invoices'],
    condition: { 'resource.status': { eq: 'open' } },
    fields: { deny: ['notes'] },
  })
  const editor = await createMember(w, org, [ofFlows, rule, allow(['records:create', 'records:read'], { resources: ['locations'] })])
  const trigger = ['t', 'trigger.record_event', { object_type: 'invoices', event: 'deleted' }] as const
  const flow = await createFlow(
    t,
    org,
    { enabled: true, ...chain(trigger, location('a', '{{trigger.record.number}}/{{trigger.record.notes}}')) },
    editor.client,
  )
  const records = `${org.path}/records/invoices`
  const sent = ['draft', 'open'].map((status) => ({ values: { number: `N-${status}`, status, notes: 'hidden' } }))
  for (const body of sent) {
    const { id } = (await org.owner.post(records, body)).data
    await org.owner.delete(`${records}/${id}`)
  }
  await endedRuns(w, org, flow.id, 1)
  await w.drain()
  t.is((await runsOf(org, flow.id)).length, 1)
  t.deepEqual(
    (await recordsOf(org, 'locations')).map(({ name }) => name),
    ['N-open/'],
  )
})

test('rights: a function in a flow has only the rights that both its author and the editor have', async (t) => {
  const w = await shared()
  const { org } = w
  const author = await createMember(w, org, [allow(['functions:create', 'records:create'])])
  const source = 'const handler = async () => (await sdk.records.list("locations", {})).total'
  const fn = (await author.client.post(`${org.path}/functions`, { name: 'Count', source })).data
  const flow = await createFlow(t, org, chain(byHand, ['f', 'action.run_function', { function_id: fn.id }]))
  const run = await ended(org, flow.id, await start(t, org, flow.id))
  t.like(run, { status: 'failed' })
  t.regex(run.error, /records:read/)
})

test('rights: a run shows values to callers who may read the record now, results of functions to editors, and the rest to readers', async (t) => {
  const w = await shared()
  const { org } = w
  const fn = (await org.owner.post(`${org.path}/functions`, { name: 'Secret', source: 'const handler = () => "classified"' })).data
  const flow = await createFlow(
    t,
    org,
    graph(
      [
        byHand,
        location('a', 'seen'),
        ['f', 'action.run_function', { function_id: fn.id }],
        ['c', 'logic.condition'],
        ['x', 'action.create_record', { object_type: '{{trigger.input}}', values: { nope: 'classified' } }],
      ],
      't > a',
      'a > f',
      'f > c',
      'c.true > x',
    ),
  )
  const runId = await start(t, org, flow.id, 'locations')
  const whole = await ended(org, flow.id, runId)
  t.like(outputsOf(whole), { a: { values: { name: 'seen' } }, f: { result: 'classified' }, c: { result: true } })
  const reader = await createMember(w, org, [allow(['flows:read'])])
  const seen = await runOf(org, flow.id, runId, reader.client)
  t.is(seen.error, 'VALIDATION_ERROR at x')
  t.deepEqual(Object.keys(outputsOf(seen).a), ['id'])
  t.deepEqual([outputsOf(seen).f, outputsOf(seen).c], [undefined, { result: true }])
  t.false(JSON.stringify(seen).includes('classified'))
  const role = await createRole(w, org, [allow(['records:read'], { fields: { deny: ['address'] } })])
  await assignRole(w.db, org.id, role, reader.id)
  const more = outputsOf(await runOf(org, flow.id, runId, reader.client)).a
  t.is(more.values.name, 'seen')
  t.false(Object.hasOwn(more.values, 'address'))
  const page = (await reader.client.get(`${org.path}/flows/runs?flow=${flow.id}`)).data
  t.deepEqual(
    page.runs.map(({ error }: typeof page) => error),
    ['VALIDATION_ERROR at x'],
  )
  await org.owner.delete(`${org.path}/records/locations/${more.id}`)
  t.deepEqual(outputsOf(await runOf(org, flow.id, runId)).a, { id: more.id })
})

test('rights: a role for one flow shows only that flow, its runs and its figures', async (t) => {
  const w = await shared()
  const { org } = w
  const [one, other] = [
    await createFlow(t, org, chain(byHand, location('a', '1'))),
    await createFlow(t, org, chain(byHand, location('a', '2'))),
  ]
  for (const { id } of [one, other, one, other]) await ended(org, id, await start(t, org, id))
  const reader = await createMember(w, org, [allow(['flows:read'], { resources: [one.id] })])
  t.deepEqual(
    (await reader.client.get(`${org.path}/flows`)).data.map(({ id }: typeof one) => id),
    [one.id],
  )
  const { runs, next_cursor } = (await reader.client.get(`${org.path}/flows/runs?limit=1`)).data
  t.deepEqual([runs.length, runs[0].flow_id], [1, one.id])
  const rest = (await reader.client.get(`${org.path}/flows/runs?limit=5&cursor=${next_cursor}`)).data
  t.deepEqual([rest.runs.map(({ flow_id }: typeof one) => flow_id), rest.next_cursor], [[one.id], null])
  const overview = (await reader.client.get(`${org.path}/flows/overview`)).data
  t.like(overview, { total: 1, enabled: 0, by_trigger: { manual: 1 }, runs_24h: { ok: 2, failed: 0, skipped: 0 } })
  t.is((await reader.client.get(`${org.path}/flows/${other.id}/runs`)).status, 403)
})
