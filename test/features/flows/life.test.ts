import test from 'ava'
import { createRecord } from '#shared/core/records/create/create-record.ts'
import { requireRecordType } from '#shared/core/types/record-type.ts'
import { startRunsOnEventsJob } from '#shared/features/flows/jobs.ts'
import {
  ageRun,
  countEndedRuns,
  countOvertakingRuns,
  deleteWaitingDeliveries,
  endWait,
  loseRun,
  readDeferredQueues,
  readRecordRuns,
  readWaitingDeliveries,
  waitUntilParked,
} from '#test/features/flows/rows.ts'
import {
  byHand,
  chain,
  createFlow,
  ended,
  endedRuns,
  graph,
  lockLocations,
  outputsOf,
  play,
  recordsOf,
  runOf,
  runsOf,
  start,
} from '#test/features/flows/support.ts'
import { eventually } from '#test/support/eventually.ts'
import { createOrg } from '#test/support/factories.ts'
import { runMaintenanceTask } from '#test/support/maintenance.ts'
import { setWorkspaceStatus } from '#test/support/rows.ts'
import { scopeOf } from '#test/support/scope.ts'
import { shareWorld } from '#test/support/shared-world.ts'
import type { World } from '#test/support/world.ts'

const shared = shareWorld(test)

const location = (id: string, name: string) => [id, 'action.create_record', { object_type: 'locations', values: { name } }] as const
const wait = ['w', 'logic.wait', { minutes: '10' }] as const
const names = async (org: World['org']) => (await recordsOf(org, 'locations')).map(({ name }) => name)

test('life: a run keeps the definition that it started with, and the next run has the new one', async (t) => {
  const w = await shared()
  const { org } = w
  const flow = await createFlow(t, org, chain(byHand, location('a', 'old 1'), wait, location('b', 'old 2')))
  const runId = await start(t, org, flow.id)
  await waitUntilParked(w.db, runId)
  const changed = await org.owner.put(`${org.path}/flows/${flow.id}`, chain(byHand, location('b', 'new')))
  t.is(changed.status, 200, changed.text)
  await endWait(w.db, runId)
  t.like(await ended(org, flow.id, runId), { status: 'ok', version: 1 })
  t.like(await ended(org, flow.id, await start(t, org, flow.id)), { status: 'ok', version: 2 })
  t.deepEqual(await names(org), ['old 1', 'old 2', 'new'])
})

test('life: the deletion of a flow fails its active runs, and its runs stay readable', async (t) => {
  const w = await shared()
  const { org } = w
  const flow = await createFlow(t, org, chain(byHand, location('a', 'one'), wait, location('b', 'two')))
  const runId = await start(t, org, flow.id)
  await waitUntilParked(w.db, runId)
  t.is((await org.owner.delete(`${org.path}/flows/${flow.id}`)).status, 204)
  t.like(await runOf(org, flow.id, runId), { status: 'failed', error: 'NOT_FOUND: The flow was deleted', flow_name: 'Test' })
  t.is((await org.owner.get(`${org.path}/flows/${flow.id}`)).status, 404)
  const { runs } = (await org.owner.get(`${org.path}/flows/runs?status=failed&flow=${flow.id}`)).data
  t.deepEqual(
    runs.map(({ id }: { id: string }) => id),
    [runId],
  )
  t.is((await org.owner.post(`${org.path}/flows/${flow.id}/runs/${runId}/retry`)).status, 404)
  t.deepEqual(await names(org), ['one'])
})

test('life: a retry continues once from the failed step, with the outputs of the earlier steps', async (t) => {
  const w = await shared()
  const { org } = w
  const loop = ['l', 'logic.for_each', { list: '{{trigger.input}}' }] as const
  const flow = await createFlow(
    t,
    org,
    graph(
      [
        byHand,
        location('a', 'first'),
        loop,
        location('b', '{{item}} {{steps.a.values.name}}'),
        ['c', 'action.create_record', { object_type: '{{item}}', values: { name: 'x' } }],
      ],
      't > a',
      'a > l',
      'l.loop > b',
      'b > c',
    ),
  )
  const runId = await start(t, org, flow.id, ['locations', 'shops'])
  const failed = await ended(org, flow.id, runId)
  t.like(failed, { status: 'failed' })
  t.deepEqual(
    failed.steps.map(({ node_id, iteration }: typeof failed) => node_id + iteration),
    ['a', 'l', 'b0', 'c0', 'b1', 'c1'],
  )
  await org.owner.post(`${org.path}/types`, { key: 'shops', label: 'Shops' })
  await org.owner.post(`${org.path}/fields`, { entity_type: 'shops', key: 'name', label: 'Name', type: 'string' })
  const { data } = await org.owner.post(`${org.path}/flows/${flow.id}/runs/${runId}/retry`)
  const run = await ended(org, flow.id, data.id)
  t.like(run, { status: 'ok', retry_of: runId })
  t.deepEqual(
    run.steps.map(({ node_id, iteration }: typeof failed) => node_id + iteration),
    ['a', 'l', 'b0', 'c0', 'b1', 'c1'],
  )
  t.deepEqual(await names(org), ['first', 'locations first', 'x', 'shops first'])
  t.is((await recordsOf(org, 'shops')).length, 1)
  const again = await org.owner.post(`${org.path}/flows/${flow.id}/runs/${runId}/retry`)
  t.like(again.body.error, { code: 'VALIDATION_ERROR', message: 'The run was tried again already; go on with that run' })
  t.is((await org.owner.post(`${org.path}/flows/${flow.id}/runs/${data.id}/retry`)).status, 400)
})

test('life: a run that failed more than a week ago cannot be retried', async (t) => {
  const w = await shared()
  const { org } = w
  const run = await play(t, org, chain(byHand, ['c', 'action.create_record', { object_type: '{{trigger.input}}' }]), 'nope')
  t.is(run.status, 'failed')
  await ageRun(w.db, run.id)
  const refused = await org.owner.post(`${org.path}/flows/${run.flow_id}/runs/${run.id}/retry`)
  t.is(refused.status, 400)
  t.regex(refused.body.error.message, /more than 7 days ago/)
})

test('life: an event that the first condition rejects creates no run, and is counted as skipped', async (t) => {
  const w = await shared()
  const { org } = w
  const trigger = ['t', 'trigger.record_event', { object_type: 'invoices', event: 'created' }] as const
  const big = ['c', 'logic.condition', { clauses: [{ left: '{{trigger.record.total.amount}}', op: 'gte', right: '100' }] }] as const
  const flow = await createFlow(t, org, { enabled: true, ...graph([trigger, big, location('a', 'big')], 't > c', 'c.true > a') })
  for (const total of [99, 100, 1]) await org.owner.post(`${org.path}/records/invoices`, { values: { total } })
  await endedRuns(w, org, flow.id, 1)
  await w.drain()
  t.is((await runsOf(org, flow.id)).length, 1)
  t.like((await org.owner.get(`${org.path}/flows/overview`)).data, { runs_24h: { ok: 1, failed: 0, skipped: 2 }, runs_7d: { skipped: 2 } })
})

test('life: an import of 500 rows creates 500 runs, and a manual run of another workspace starts at once meanwhile', async (t) => {
  const w = await shared()
  const [org, other] = [await createOrg(w), await createOrg(w)]
  const flow = await createFlow(t, org, {
    enabled: true,
    ...chain(
      ['t', 'trigger.record_event', { object_type: 'locations', event: 'created' }],
      ['a', 'action.create_record', { object_type: 'invoices', values: { notes: '{{trigger.record.name}}' } }],
    ),
  })
  const quick = await createFlow(t, other, chain(byHand, location('a', 'quick')))
  const file = `name\n${Array.from({ length: 500 }, (_, index) => `place ${index}`).join('\n')}\n`
  await org.owner.post(`${org.path}/records/locations/import`, file, { 'content-type': 'text/csv' })
  const quickRuns: string[] = []
  for (let round = 0; round < 5; round++) {
    const runId = await start(t, other, quick.id)
    quickRuns.push(runId)
    await ended(other, quick.id, runId)
  }
  await endedRuns(w, org, flow.id, 500)
  const overtaking = await countOvertakingRuns(w.db, quickRuns, flow.id)
  t.is(overtaking.length, 5)
  t.true(Math.max(...overtaking) < 100, `runs that started before it: ${overtaking.join(', ')}`)
  t.deepEqual(await readRecordRuns(w.db, flow.id), { runs: 500, records: 500, ok: 500 })
})

test('life: a run waits while its workspace is suspended, and continues afterwards', async (t) => {
  const w = await shared()
  const { org } = w
  const flow = await createFlow(t, org, chain(byHand, location('a', 'one'), wait, location('b', 'two')))
  const runId = await start(t, org, flow.id)
  await waitUntilParked(w.db, runId)
  await setWorkspaceStatus(w.db, org.id, 'suspended')
  await endWait(w.db, runId)
  await w.drain()
  t.is(await countEndedRuns(w.db, flow.id), 0)
  await setWorkspaceStatus(w.db, org.id, 'active')
  t.is((await ended(org, flow.id, runId)).status, 'ok')
})

test('life: events of a suspended workspace are numbered, and their deliveries wait and are made once afterwards', async (t) => {
  const w = await shared()
  const { org } = w
  const trigger = ['t', 'trigger.record_event', { object_type: 'locations', event: 'created' }] as const
  const body = { enabled: true, ...chain(trigger, ['n', 'action.notify', { title: '{{trigger.record.name}}' }]) }
  const flow = await createFlow(t, org, body)
  const other = await createOrg(w)
  const later = await createFlow(t, other, body)
  await setWorkspaceStatus(w.db, org.id, 'suspended')
  const scope = await scopeOf(w, org)
  await createRecord(scope, await requireRecordType(scope, 'locations'), { name: 'one' })
  // The process that files a later event of an active workspace has left this one.
  await other.owner.post(`${other.path}/records/locations`, { values: { name: 'later' } })
  await endedRuns(w, other, later.id, 1)
  const [one] = await readWaitingDeliveries(w.db, org.id)
  if (!one) return t.fail('The event was delivered')
  // An event that was delivered just before the suspension is deferred with its job.
  await deleteWaitingDeliveries(w.db, org.id)
  const delivery = { workspaceId: org.id, source: one.source, objectType: one.object_type, event: one.event }
  const payload = {
    ...delivery,
    ...(one.snapshots ? { snapshots: one.snapshots } : {}),
    entryIds: one.entry_ids,
    subjectIds: one.subject_ids,
    listenerIds: [flow.id],
  }
  await scope.jobQueue.enqueue(scope.db, startRunsOnEventsJob, { workspaceId: org.id, cause: one.cause }, payload)
  const deferred = () => readDeferredQueues(w.db, org.id)
  await eventually(async () => (await deferred()).length > 0)
  await setWorkspaceStatus(w.db, org.id, 'active')
  t.like((await endedRuns(w, org, flow.id, 1))[0], { status: 'ok' })
  await w.drain()
  t.deepEqual([(await runsOf(org, flow.id)).length, (await deferred()).length], [1, 0])
})

test('life: a run whose job was lost continues, and one that lost its job repeatedly fails', async (t) => {
  const w = await shared()
  const { org } = w
  const flow = await createFlow(t, org, chain(byHand, location('a', 'one'), location('b', 'two')))
  const lost = async (revived: number) => {
    const runId = await start(t, org, flow.id)
    await ended(org, flow.id, runId)
    await loseRun(w.db, runId, revived)
    await runMaintenanceTask(w, 'lost runs of flows')
    return ended(org, flow.id, runId)
  }
  t.is((await lost(0)).status, 'ok')
  t.like(await lost(5), { status: 'failed', error: 'INTERNAL: The run was given up: its worker was lost again and again' })
})

test('life: a manual run of a flow with problems is accepted and fails with the first problem', async (t) => {
  const w = await shared()
  const { org } = w
  const run = await play(t, org, chain(byHand, location('a', 'x'), ['b', 'action.create_record']))
  t.like(run, { status: 'failed', error: 'VALIDATION_ERROR at b: object_type is required', steps: [] })
  t.deepEqual(await names(org), [])
})

test('life: the list of all runs is filtered by status, flow and time, and paged', async (t) => {
  const w = await shared()
  const { org } = w
  const flow = await createFlow(
    t,
    org,
    chain(byHand, ['c', 'action.create_record', { object_type: '{{trigger.input}}', values: { name: 'x' } }]),
  )
  for (const input of ['locations', 'nope', 'locations', 'nope', 'locations'])
    await ended(org, flow.id, await start(t, org, flow.id, input))
  const list = async (query: string) => (await org.owner.get(`${org.path}/flows/runs?${query}`)).data
  const first = await list('limit=2')
  const second = await list(`limit=2&cursor=${first.next_cursor}`)
  const third = await list(`limit=2&cursor=${second.next_cursor}`)
  t.deepEqual(
    [first, second, third].flatMap(({ runs }) => runs.map(({ status }: typeof first) => status)),
    ['ok', 'failed', 'ok', 'failed', 'ok'],
  )
  t.is(third.next_cursor, null)
  t.is((await list('status=failed')).runs.length, 2)
  t.is((await list('status=cancelled')).runs.length, 0)
  t.is((await list(`from=${new Date().toISOString().slice(0, 10)}`)).runs.length, 5)
  t.is((await list('from=2999-01-01T00:00:00Z')).runs.length, 0)
  for (const query of ['from=yesterday', 'limit=201', 'limit=0', 'status=done', 'cursor=abc', 'flow=x']) {
    t.is((await org.owner.get(`${org.path}/flows/runs?${query}`)).status, 400, query)
  }
})

test('life: a run that is cancelled during a change rolls the change back', async (t) => {
  const w = await shared()
  const { org } = w
  const update = [
    'b',
    'action.update_record',
    { object_type: 'locations', record_id: '{{trigger.input}}', values: { name: 'new' } },
  ] as const
  const flow = await createFlow(t, org, chain(byHand, update))
  const { id } = (await org.owner.post(`${org.path}/records/locations`, { values: { name: 'old' } })).data
  const held = await lockLocations(t, w, org)
  const runId = await start(t, org, flow.id, id)
  await held.waitedFor()
  t.is((await org.owner.post(`${org.path}/flows/${flow.id}/runs/${runId}/cancel`)).status, 200)
  await held.release()
  await w.drain()
  t.like(await runOf(org, flow.id, runId), { status: 'cancelled', steps: [] })
  t.is((await org.owner.get(`${org.path}/records/locations/${id}`)).data.values.name, 'old')
})

test('life: references in match, op, minutes and method are filled in, and a value that is none fails the step', async (t) => {
  const { org } = await shared()
  const clauses = [
    { left: '1', op: '{{trigger.input.op}}', right: '2' },
    { left: '1', op: 'eq', right: '1' },
  ]
  const flow = await createFlow(
    t,
    org,
    chain(
      byHand,
      ['f', 'logic.filter', { list: '[1, 2]', match: '{{trigger.input.match}}', clauses }],
      ['r', 'logic.reduce', { list: '[1, 2]', op: '{{trigger.input.reduce}}' }],
      ['w', 'logic.wait', { minutes: '{{trigger.input.minutes}}', until: '{{trigger.input.until}}' }],
    ),
  )
  t.deepEqual(flow.problems, [])
  const sound = { match: 'any', op: 'gt', reduce: 'max', minutes: '0.001' }
  const playing = async (input: object) => ended(org, flow.id, await start(t, org, flow.id, { ...sound, ...input }))
  const any = await playing({})
  t.is(any.status, 'ok', any.error)
  t.like(outputsOf(any), { f: { count: 2 }, r: { value: 2 } })
  t.like(outputsOf(await playing({ match: 'all' })), { f: { count: 0 } })
  t.like(outputsOf(await playing({ match: 'all', op: 'lt', reduce: 'sum' })), { f: { count: 2 }, r: { value: 3 } })
  t.is((await playing({ match: 'some' })).error, 'VALIDATION_ERROR at f: match must be all or any')
  t.regex((await playing({ op: 'constructor' })).error, /at f: clauses\[0\]\.op must be one of eq, ne/)
  t.regex((await playing({ reduce: 'product' })).error, /at r: op must be one of sum, avg/)
  t.is((await playing({ until: '2027-01-31' })).error, 'VALIDATION_ERROR at w: minutes and until cannot both be set')
  const traced = ['h', 'action.http_request', { method: '{{trigger.input}}', url: 'http://127.0.0.1/' }] as const
  t.regex((await play(t, org, chain(byHand, traced), 'TRACE')).error, /at h: method must be one of GET, POST/)
})
