import test from 'ava'
import {
  byHand,
  chain,
  createFlow,
  ended,
  endedRuns,
  graph,
  outputsOf,
  play,
  recordsOf,
  runOf,
  start,
} from '#test/features/flows/support.ts'
import { readCauses } from '#test/support/audit.ts'
import { shareWorld } from '#test/support/shared-world.ts'

const shared = shareWorld(test)

const location = (id: string, name: string) => [id, 'action.create_record', { object_type: 'locations', values: { name } }] as const

test('runs: a manual run executes the blocks in order, and shows their outputs', async (t) => {
  const w = await shared()
  const { org } = w
  const flow = await createFlow(t, org, {
    ...chain(byHand, location('a', '{{trigger.input.name}} of {{context.city}}'), [
      'b',
      'action.update_record',
      { object_type: 'locations', record_id: '{{steps.a.id}}', values: { address: '{{ steps.a.values.name }}!' } },
    ]),
    context: { city: 'Bonn' },
  })
  t.like(flow, { enabled: false, trigger_kind: 'manual', problems: [], version: 1, last_run_at: null })
  const run = await ended(org, flow.id, await start(t, org, flow.id, { name: 'Shop' }))
  t.like(run, { status: 'ok', flow_name: 'Test', trigger: { kind: 'manual' }, retry_of: null })
  t.is(run.error, undefined)
  t.deepEqual(
    run.steps.map(({ node_id, node_type, status, iteration }: typeof run) => [node_id, node_type, status, iteration]),
    [
      ['a', 'action.create_record', 'ok', ''],
      ['b', 'action.update_record', 'ok', ''],
    ],
  )
  t.like(outputsOf(run).b.values, { name: 'Shop of Bonn', address: 'Shop of Bonn!' })
  t.like(await recordsOf(org, 'locations'), [{ name: 'Shop of Bonn', address: 'Shop of Bonn!' }])
  t.not((await org.owner.get(`${org.path}/flows/${flow.id}`)).data.last_run_at, null)
  const { entries } = (await org.owner.get(`${org.path}/audit`)).data
  t.true(entries.every((entry: typeof run) => entry.request_id === run.id && entry.actor_id === org.ownerId))
  t.deepEqual(await readCauses(org), [
    ['created locations: flow', run.id],
    ['updated locations: flow', run.id],
  ])
})

test('runs: the audit names what is nearest to a change: a function that a flow runs, and a flow that a change of it starts', async (t) => {
  const w = await shared()
  const { org } = w
  const source = "async function handler() { return sdk.records.create('locations', { name: 'Shop' }) }"
  const made = (await org.owner.post(`${org.path}/functions`, { name: 'Test', source, timeout_ms: 30_000 })).data
  const watching = await createFlow(t, org, {
    enabled: true,
    ...chain(
      ['t', 'trigger.record_event', { object_type: 'locations', event: 'created' }],
      ['a', 'action.create_record', { object_type: 'accounts', values: { code: '{{trigger.record.name}}', name: 'x', kind: 'asset' } }],
    ),
  })
  const flow = await createFlow(t, org, chain(byHand, ['f', 'action.run_function', { function_id: made.id }], location('a', 'After')))
  const run = await ended(org, flow.id, await start(t, org, flow.id))
  const started = await endedRuns(w, org, watching.id, 2)
  const [ofFunction] = (await org.owner.get(`${org.path}/functions/${made.id}/runs`)).data.runs
  t.deepEqual(await readCauses(org, 'object_type=locations'), [
    ['created locations: function', ofFunction.id],
    ['created locations: flow', run.id],
  ])
  t.deepEqual(
    (await readCauses(org, 'object_type=accounts')).map(([change, id]) => `${change} ${id}`).toSorted(),
    started.map(({ id }: { id: string }) => `created accounts: flow ${id}`).toSorted(),
  )
})

test('runs: a record event runs the flow with the record after the change', async (t) => {
  const w = await shared()
  const { org } = w
  const flow = await createFlow(t, org, {
    enabled: true,
    ...chain(
      ['t', 'trigger.record_event', { object_type: 'invoices', event: 'updated' }],
      location('a', '{{trigger.event}} {{trigger.record.notes}} {{trigger.record.total.amount}}'),
    ),
  })
  t.like(flow, { enabled: true, trigger_kind: 'record_event', trigger_type: 'invoices', trigger_event: 'updated' })
  const { id } = (await org.owner.post(`${org.path}/records/invoices`, { values: { notes: 'zero', total: 12.5 } })).data
  for (const notes of ['one', 'two']) await org.owner.put(`${org.path}/records/invoices/${id}/values`, { values: { notes } })
  const runs = await endedRuns(w, org, flow.id, 2)
  t.deepEqual(
    runs.map(({ status, trigger }) => ({ status, trigger })),
    [1, 2].map(() => ({ status: 'ok', trigger: { kind: 'record_event', event: 'updated', object_type: 'invoices', record_id: id } })),
  )
  t.deepEqual((await recordsOf(org, 'locations')).map(({ name }) => name).toSorted(), ['updated one 12.5', 'updated two 12.5'])
})

test('runs: a condition takes one branch, and the other is not executed', async (t) => {
  const w = await shared()
  const { org } = w
  const body = graph(
    [
      byHand,
      ['c', 'logic.condition', { clauses: [{ left: '{{trigger.input.n}}', op: 'gt', right: '10' }] }],
      location('big', 'big'),
      location('small', 'small'),
      location('both', 'both'),
    ],
    't > c',
    'c.true > big',
    'c.false > small',
    'big > both',
    'small > both',
  )
  const run = await play(t, org, body, { n: 9 })
  t.deepEqual(
    run.steps.map(({ node_id }: typeof run) => node_id),
    ['c', 'small', 'both'],
  )
  t.deepEqual(outputsOf(run).c, { result: false })
  t.deepEqual(
    (await play(t, org, body, { n: 100 })).steps.map(({ node_id }: typeof run) => node_id),
    ['c', 'big', 'both'],
  )
})

test('runs: a loop executes its body for each item, then continues', async (t) => {
  const w = await shared()
  const { org } = w
  const run = await play(
    t,
    org,
    graph(
      [
        byHand,
        ['l', 'logic.for_each', { list: '{{trigger.input}}' }],
        location('a', '{{index}} {{item.name}}'),
        location('b', 'done {{steps.l.count}}'),
      ],
      't > l',
      'l.loop > a',
      'l.done > b',
    ),
    [{ name: 'x' }, { name: 'y' }, { name: 'z' }],
  )
  t.is(run.status, 'ok')
  t.deepEqual(
    (await recordsOf(org, 'locations')).map(({ name }) => name),
    ['0 x', '1 y', '2 z', 'done 3'],
  )
  t.deepEqual(
    run.steps.map(({ node_id, iteration }: typeof run) => `${node_id}${iteration}`),
    ['l', 'a0', 'a1', 'a2', 'b'],
  )
})

test('runs: a step that fails ends the run, and nothing after it runs', async (t) => {
  const w = await shared()
  const { org } = w
  const run = await play(
    t,
    org,
    chain(
      byHand,
      location('a', 'one'),
      // The value of a reference is validated when the step runs.
      ['b', 'action.create_record', { object_type: '{{trigger.input}}', values: { nope: 'x' } }],
      location('c', 'two'),
    ),
    'locations',
  )
  t.like(run, { status: 'failed', error: 'VALIDATION_ERROR at b: values.nope names no field of locations' })
  t.deepEqual(
    run.steps.map(({ node_id, status }: typeof run) => [node_id, status]),
    [
      ['a', 'ok'],
      ['b', 'failed'],
    ],
  )
  t.is((await recordsOf(org, 'locations')).length, 1)
})

test('runs: a function runs with the output of a step without occupying a worker, and its result reaches the next step', async (t) => {
  const w = await shared()
  const { org } = w
  const source =
    'const handler = async ({ n }) => ({ double: 2 * Number(n), record: (await sdk.records.create("locations", { name: "by function" })).id })'
  const fn = (await org.owner.post(`${org.path}/functions`, { name: 'Double', source })).data
  const run = await play(
    t,
    org,
    chain(
      byHand,
      ['f', 'action.run_function', { function_id: fn.id, input: { n: '{{trigger.input}}' } }],
      location('a', '{{steps.f.result.double}}'),
    ),
    21,
  )
  t.is(run.status, 'ok', run.error)
  t.deepEqual(
    (await recordsOf(org, 'locations')).map(({ name }) => name),
    ['by function', '42'],
  )
  const thrown = (
    await org.owner.post(`${org.path}/functions`, { name: 'Throws', source: 'const handler = () => { throw new Error("no way") }' })
  ).data
  const failed = await play(t, org, chain(byHand, ['f', 'action.run_function', { function_id: thrown.id }], location('a', 'x')))
  t.like(failed, { status: 'failed' })
  t.regex(failed.error, /^VALIDATION_ERROR at f: .*no way/)
})

test('runs: a run continues after a wait', async (t) => {
  const w = await shared()
  const { org } = w
  const flow = await createFlow(t, org, chain(byHand, ['w', 'logic.wait', { minutes: '0.01' }], location('a', 'later')))
  const runId = await start(t, org, flow.id)
  t.is((await ended(org, flow.id, runId)).status, 'ok')
  t.true((await runOf(org, flow.id, runId)).steps[0].duration_ms >= 600)
})
