import test from 'ava'
import { addEmptyFlows, countLongOutputs, countNamesInSteps, readRecordCount, readRunsByStatus } from '#test/features/flows/rows.ts'
import { byHand, chain, createFlow, ended, endedRuns, graph, play, recordsOf, runsOf, start } from '#test/features/flows/support.ts'
import { shareWorld } from '#test/support/shared-world.ts'

const shared = shareWorld(test)

const location = (id: string, name: string) => [id, 'action.create_record', { object_type: 'locations', values: { name } }] as const

test('limits: a loop processes each of 1,000 items once, and one over 1,001 items fails before the first', async (t) => {
  const w = await shared()
  const { org } = w
  const body = graph([byHand, ['l', 'logic.for_each', { list: '{{trigger.input}}' }], location('a', '{{index}}')], 't > l', 'l.loop > a')
  const flow = await createFlow(t, org, body)
  const items = Array.from({ length: 1_000 }, (_, index) => index)
  const run = await ended(org, flow.id, await start(t, org, flow.id, items))
  t.is(run.status, 'ok', run.error)
  t.is(run.steps.length, 1_001)
  t.is(await readRecordCount(w.db, org.id), 1_000)
  t.is(await countNamesInSteps(w.db, run.id), 1_000)
  const failed = await ended(org, flow.id, await start(t, org, flow.id, [...items, 1_000]))
  t.like(failed, { status: 'failed', error: 'VALIDATION_ERROR at l: list may have at most 1000 items, it has 1001' })
  t.is(await readRecordCount(w.db, org.id), 1_000)
})

test('limits: a run has at most 5,000 steps, and fails before the effect of one more', async (t) => {
  const w = await shared()
  const { org } = w
  const work = (id: string) => [id, 'logic.reduce', { list: '[1]', op: 'count' }] as const
  const inner = ['m', 'logic.for_each', { list: '{{trigger.input}}' }] as const
  const body = (after: ReturnType<typeof location>[]) =>
    graph(
      [byHand, ['l', 'logic.for_each', { list: '{{trigger.input}}' }], inner, work('a'), ...after],
      't > l',
      'l.loop > m',
      'm.loop > a',
      ...after.map(([id]) => `l.done > ${id}`),
    )
  // 1 + 70 + 70 × 70 = 4,971 steps, and 29 more.
  const items = Array.from({ length: 70 }, (_, index) => index)
  const many = (number: number) => Array.from({ length: number }, (_, index) => location(`x${index}`, `${index}`))
  t.is((await play(t, org, body(many(29)), items)).status, 'ok')
  t.is((await recordsOf(org, 'locations')).length, 29)
  const failed = await play(t, org, body(many(30)), items)
  t.like(failed, { status: 'failed' })
  t.regex(failed.error, /^VALIDATION_ERROR at x\d+: a run has at most 5000 steps$/)
  t.is((await recordsOf(org, 'locations')).length, 58)
})

test('limits: flows that trigger each other stop after the eighth, whose change is kept, and the ninth reports the limit', async (t) => {
  const w = await shared()
  const { org } = w
  const copies = (from: string, to: string, values: object) =>
    createFlow(t, org, {
      enabled: true,
      ...chain(
        ['t', 'trigger.record_event', { object_type: from, event: 'created' }],
        ['a', 'action.create_record', { object_type: to, values }],
      ),
    })
  const there = await copies('locations', 'invoices', { notes: 'back' })
  const back = await copies('invoices', 'locations', { name: 'forth' })
  await org.owner.post(`${org.path}/records/locations`, { values: { name: 'first' } })
  await endedRuns(w, org, there.id, 5)
  await w.drain()
  const runs = [...(await runsOf(org, there.id)), ...(await runsOf(org, back.id))]
  t.deepEqual(runs.map(({ status }) => status).toSorted(), ['failed', ...Array(8).fill('ok')])
  const [last] = runs.filter(({ status }) => status === 'failed')
  t.regex(last.error, /flows set each other off 8 deep/)
  t.deepEqual((await org.owner.get(`${org.path}/flows/${last.flow_id}/runs/${last.id}`)).data.steps, [])
  t.is((await recordsOf(org, 'locations')).length + (await recordsOf(org, 'invoices')).length, 9)
})

test('limits: an import into a type whose flows trigger each other stops after eight changes for each row', async (t) => {
  const w = await shared()
  const { org } = w
  const [there, back] = [
    ['locations', 'invoices', { notes: '{{trigger.record.name}}' }],
    ['invoices', 'locations', { name: '{{trigger.record.notes}}' }],
  ].map(([from, to, values]) => ({
    enabled: true,
    ...chain(
      ['t', 'trigger.record_event', { object_type: from, event: 'created' }],
      ['a', 'action.create_record', { object_type: to, values }],
    ),
  }))
  const flows = [await createFlow(t, org, there ?? {}), await createFlow(t, org, back ?? {})]
  const rows = 30
  const file = `name\n${Array.from({ length: rows }, (_, row) => `row ${row}`).join('\n')}\n`
  await org.owner.post(`${org.path}/records/locations/import`, file, { 'content-type': 'text/csv' })
  await endedRuns(w, org, flows[0].id, rows * 5)
  await w.drain()
  const runs = await readRunsByStatus(w.db, org.id)
  t.deepEqual(
    runs.map(({ status, runs }) => [status, runs]),
    [
      ['failed', rows],
      ['ok', rows * 8],
    ],
  )
  t.is(runs[0]?.names, rows)
  t.is(await readRecordCount(w.db, org.id), rows * 9)
})

test('limits: functions between flows do not count towards the length of a chain', async (t) => {
  const w = await shared()
  const { org } = w
  const source = 'const handler = () => sdk.records.create("invoices", { notes: "x" }).then(() => null)'
  const fn = (await org.owner.post(`${org.path}/functions`, { name: 'Make', source })).data
  const flow = await createFlow(t, org, {
    enabled: true,
    ...chain(
      ['t', 'trigger.record_event', { object_type: 'invoices', event: 'created' }],
      ['f', 'action.run_function', { function_id: fn.id }],
    ),
  })
  await org.owner.post(`${org.path}/records/invoices`, { values: {} })
  await endedRuns(w, org, flow.id, 9)
  await w.drain()
  t.deepEqual(
    (await runsOf(org, flow.id)).map(({ status }) => status),
    [...Array(8).fill('ok'), 'failed'],
  )
})

test('limits: an output of 1 MB passes, one more byte fails its step, and a run shows 64 KB of it', async (t) => {
  const w = await shared()
  const { org } = w
  const source = 'const handler = ({ length }) => "x".repeat(Number(length))'
  const fn = (await org.owner.post(`${org.path}/functions`, { name: 'Long', source })).data
  const f = ['f', 'action.run_function', { function_id: fn.id, input: { length: '{{trigger.input}}' } }] as const
  const body = chain(byHand, f, ['c', 'logic.condition', { clauses: [{ left: '{{steps.f.result}}', op: 'contains', right: 'xxx' }] }])
  const most = 1_048_576 - 2
  const run = await play(t, org, body, most)
  t.is(run.status, 'ok', run.error)
  const [step, condition] = run.steps
  t.true(step.output_cut)
  t.is(step.output.length, 65_536)
  t.deepEqual(condition.output, { result: true })
  t.is(await countLongOutputs(w.db, run.id), 0)
  const failed = await play(t, org, body, most + 1)
  t.like(failed, { status: 'failed', error: 'VALIDATION_ERROR at f: the output has more than 1 MB' })
})

test('limits: the 501st flow of a workspace is refused', async (t) => {
  const w = await shared()
  const { org } = w
  await addEmptyFlows(w.db, org.id, 499)
  t.is((await org.owner.post(`${org.path}/flows`, { name: 'Last' })).status, 201)
  const refused = await org.owner.post(`${org.path}/flows`, { name: 'One more' })
  t.is(refused.status, 400)
  t.regex(refused.body.error.message, /500 flows/)
})
