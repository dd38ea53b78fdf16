import test, { type ExecutionContext } from 'ava'
import { exportRecordsJob } from '#shared/core/records/jobs.ts'
import { invokeFunctionJob } from '#shared/features/functions/jobs.ts'
import { recordAttemptEnd } from '#shared/platform/jobs/operations/attempts.ts'
import { maxFiledJobs } from '#shared/platform/jobs/operations/filed-jobs.ts'
import { cancelWaitingOperation, startOperation } from '#shared/platform/jobs/operations/operations.ts'
import { createLogger } from '#shared/platform/kernel/log.ts'
import { allow, createFunction, createLatch, handlerOf, listStarted, waitAtLatch } from '#test/features/functions/support.ts'
import { pauseUntilEnd, pausing } from '#test/platform/jobs/pausing.ts'
import { addLostOperation, addPauseRow, ageWaitingJobs, deletePauseRow, readJobStates, readKeptDays } from '#test/platform/jobs/rows.ts'
import { addFiledOperations, removeFiledOperations } from '#test/races/rows.ts'
import { eventually } from '#test/support/eventually.ts'
import { createRole } from '#test/support/factories.ts'
import { hurry } from '#test/support/hurry.ts'
import { runMaintenanceTask } from '#test/support/maintenance.ts'
import { startWorkerProcess } from '#test/support/worker-process.ts'
import { type World, world } from '#test/support/world.ts'
import { startWorker } from '#workers/worker.ts'

const later = { prefer: 'respond-async' }
const kind = exportRecordsJob.name
const startExport = async ({ org }: World): Promise<string> =>
  (await org.owner.get(`${org.path}/records/locations/export`, later)).data.job_id
const statusOf = async ({ org }: World, id: string): Promise<string> => (await org.owner.get(`${org.path}/jobs/${id}`)).data.status

async function open(t: ExecutionContext, pools?: Parameters<typeof world>[1]): Promise<World> {
  const w = await world({}, pools)
  t.teardown(w.close)
  return w
}

test('pauses: every process knows a pause and its end, also when the signal was lost', async (t) => {
  const w = await open(t)
  const second = await startWorker(w.config, ['data'], createLogger('test', 'silent'))
  t.teardown(() => second.stop(0))
  const all = [w.api.services.jobQueue, w.worker.jobQueue, second.jobQueue]
  const knownAfter = async (isPaused: boolean) => {
    const began = performance.now()
    await eventually(() => all.every(({ pauses }) => pauses.has(kind) === isPaused))
    return Math.round(performance.now() - began)
  }
  const { pause, resume } = pausing(w)
  await pause(kind)
  const signalled = await knownAfter(true)
  await resume(kind)
  const ended = await knownAfter(false)
  await addPauseRow(w.db, kind)
  const lost = await knownAfter(true)
  const id = await startExport(w)
  w.worker.pools.pollAll()
  second.pools.pollAll()
  await eventually(() => w.worker.pools.idle && second.pools.idle)
  t.is(await statusOf(w, id), 'queued')
  await deletePauseRow(w.db, kind)
  t.log(`known after ${signalled} and ${ended} ms, without a signal after ${lost} and ${await knownAfter(false)} ms`)
  t.is(await hurry(w, id), 'done')
})

test('pauses: worker processes take nothing of a paused kind, also when they are killed and started again, and go on when it is resumed', async (t) => {
  const w = await open(t, ['functions', 'flows', 'mail', 'schedule'])
  const first = await startWorkerProcess(t, w, 'data')
  const second = await startWorkerProcess(t, w, 'data')
  t.is((await w.org.owner.get(`${w.org.path}/records/locations/export`)).status, 200, 'they take exports')
  const { pause, resume } = pausing(w)
  await pause(kind)
  await new Promise((resolve) => setTimeout(resolve, 2_000))
  const ids = await Promise.all(Array.from({ length: 6 }, () => startExport(w)))
  // Another kind of the pool is taken after the exports, so they were there to be taken.
  const works = async () => {
    const values = [{ op: 'create', values: { name: 'A' } }]
    t.is((await w.org.owner.post(`${w.org.path}/records/locations/batch`, { operations: values, atomic: true })).status, 200)
  }
  await works()
  await Promise.all([first.kill('SIGKILL'), second.kill('SIGKILL')])
  await startWorkerProcess(t, w, 'data')
  await startWorkerProcess(t, w, 'data')
  await works()
  await works()
  t.deepEqual(await Promise.all(ids.map((id) => statusOf(w, id))), Array(6).fill('queued'))
  await resume(kind)
  for (const id of ids) await eventually(async () => (await statusOf(w, id)) === 'done')
})

test('pauses: what runs ends, and its caller gets the answer; callers that wait are told to come back', async (t) => {
  const w = await open(t)
  const { org } = w
  const latch = await createLatch(org)
  const { id } = await createFunction(t, org, handlerOf(`${waitAtLatch}; return input.number`))
  const invoke = (number: number, headers = {}) =>
    org.owner.post(`${org.path}/functions/${id}/invoke`, { input: { latch: latch.id, number } }, headers)
  const running = [0, 1, 2, 3].map((number) => invoke(number))
  await eventually(async () => (await listStarted(org)).length === 4)
  const waiting = invoke(4, { 'idempotency-key': 'waiting' })
  await eventually(async () => (await readJobStates(w.db, invokeFunctionJob.name)).gated === 1)
  const began = performance.now()
  const end = await pauseUntilEnd(t, w, invokeFunctionJob.name)
  const answers = [await waiting, await invoke(5), await invoke(6, { prefer: 'wait=30' })]
  t.log(`answered after ${Math.round(performance.now() - began)} ms`)
  for (const answer of answers) {
    t.deepEqual([answer.status, answer.data.status], [202, 'queued'])
    t.truthy(answer.headers.get('location'))
  }
  await latch.open()
  t.deepEqual(
    (await Promise.all(running)).map(({ status, data }) => [status, data.result]),
    [0, 1, 2, 3].map((number) => [200, number]),
  )
  w.worker.pools.pollAll()
  await eventually(() => w.worker.pools.idle)
  for (const { data } of answers) t.is(await statusOf(w, data.job_id), 'queued')
  await end()
  for (const { data } of answers) t.is(await hurry(w, data.job_id), 'done')
  t.is((await invoke(4, { 'idempotency-key': 'waiting' })).data.result, 4, 'the key finds the job')
  t.is((await listStarted(org)).length, 7)
})

test('pauses: visitors get 503 with Retry-After, and nothing of theirs runs later', async (t) => {
  const w = await open(t)
  const { org } = w
  await createRole(w, org, [{ ...allow('records:read', 'records:create'), resources: ['locations'] }], true)
  const latch = await createLatch(org)
  const { id } = await createFunction(t, org, handlerOf(`input = input.body; ${waitAtLatch}; return input.number`), { http_enabled: true })
  const visitor = w.visitor.withoutRetries()
  const call = (number: number) => visitor.post(`/fn/${org.id}/${id}`, { latch: latch.id, number })
  const running = [0, 1, 2, 3].map((number) => call(number))
  await eventually(async () => (await listStarted(org)).length === 4)
  const waiting = call(4)
  await eventually(async () => (await readJobStates(w.db, invokeFunctionJob.name)).gated === 1)
  const end = await pauseUntilEnd(t, w, invokeFunctionJob.name)
  const refused = [await waiting, await call(5), await call(6)]
  for (const { status, body, headers } of refused)
    t.deepEqual([status, body.error.code, headers.get('retry-after')], [503, 'OVERLOADED', '30'])
  t.deepEqual(await readJobStates(w.db, invokeFunctionJob.name), { gated: 0, waiting: 0, active: 4 }, 'the waiting call was cancelled')
  await latch.open()
  t.deepEqual(
    (await Promise.all(running)).map(({ status, body }) => [status, body]),
    [0, 1, 2, 3].map((number) => [200, number]),
    'what runs ends',
  )
  await end()
  t.is((await call(6)).body, 6)
  await w.drain()
  t.deepEqual((await listStarted(org)).sort(), [0, 1, 2, 3, 6])
})

test('pauses: jobs of a paused kind count as filed, and the refusal says that the kind is paused', async (t) => {
  const w = await open(t)
  const end = await pauseUntilEnd(t, w, kind)
  await addFiledOperations(w.db, w.org.id, kind, maxFiledJobs - 1)
  const last = await startExport(w)
  const one = await w.org.owner.get(`${w.org.path}/records/locations/export`, later)
  t.deepEqual([one.status, one.headers.get('retry-after')], [429, '5'])
  t.regex(
    one.body.error.message,
    /^1000 jobs of the kind records\.export wait in this workspace, and the operator has paused the kind records\.export; /,
  )
  await removeFiledOperations(w.db, w.org.id)
  await end()
  t.is(await hurry(w, last), 'done')
})

test('pauses: operations whose jobs wait for a pause are not given up, and their jobs are kept longer', async (t) => {
  const w = await open(t)
  const end = await pauseUntilEnd(t, w, kind)
  const ids = [await startExport(w), await startExport(w), await startExport(w)]
  await ageWaitingJobs(w.db, kind, 8)
  await runMaintenanceTask({ ...w, drain: async () => undefined }, 'abandoned operations')
  await runMaintenanceTask({ ...w, drain: async () => undefined }, 'jobs of paused kinds')
  await eventually(async () => (await readKeptDays(w.db, kind)).every((days) => days > 13))
  t.deepEqual(await Promise.all(ids.map((id) => statusOf(w, id))), Array(3).fill('queued'))
  await end()
  for (const id of ids) t.is(await hurry(w, id), 'done')
})

test('pauses: nobody waits for the next attempt of a paused kind; an attempt that runs is waited for and not cancelled', async (t) => {
  const w = await open(t)
  const { database, waiter } = w.api.services
  const [failed, running] = [await addLostOperation(w.db, w.org.id), await addLostOperation(w.db, w.org.id)]
  for (const id of [failed, running]) await startOperation(database, id, 'worker')
  await recordAttemptEnd(database, failed, 'worker', new Error('The store was away'))
  await pauseUntilEnd(t, w, kind)
  const stop = new AbortController()
  const waits = waiter.wait(running, 60_000, { job: kind, signal: stop.signal })
  t.like(await waiter.wait(failed, 60_000, { job: kind }), { status: 'running', awaits_attempt: true })
  t.true(await cancelWaitingOperation(database, failed))
  t.is(await startOperation(database, failed, 'worker'), undefined, 'a cancelled one does not run again')
  t.false(await cancelWaitingOperation(database, running))
  stop.abort()
  t.like(await waits, { status: 'running', awaits_attempt: false })
})
