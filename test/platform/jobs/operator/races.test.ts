import test, { type ExecutionContext } from 'ava'
import { jobs } from '#shared/features.ts'
import { defineJob, retryPolicies } from '#shared/platform/jobs/job.ts'
import { createContinuation } from '#shared/platform/jobs/operations/continuation.ts'
import { findOperation } from '#shared/platform/jobs/operations/operations.ts'
import type { JobAction } from '#shared/platform/jobs/operator/act.ts'
import { actOnJob } from '#shared/platform/jobs/operator/act.ts'
import { actOnAll, boundFilter, fileAction, noProgress } from '#shared/platform/jobs/operator/act-on-all.ts'
import { installJobQueues } from '#shared/platform/jobs/pgboss/install-queues.ts'
import { platformCause } from '#shared/platform/kernel/cause.ts'
import { newId } from '#shared/platform/kernel/ids.ts'
import { createLogger } from '#shared/platform/kernel/log.ts'
import { schema, t as types } from '#shared/platform/kernel/schema.ts'
import {
  addFailures,
  countCancelled,
  countEffects,
  countOutcomes,
  createEffects,
  dropEffects,
  effectOf,
  hasDeadLetter,
  readDone,
  readJobState,
} from '#test/platform/jobs/operator/rows.ts'
import { eventually } from '#test/support/eventually.ts'
import { once } from '#test/support/once.ts'
import { countRows } from '#test/support/rows.ts'
import { type World, world } from '#test/support/world.ts'
import { runAttempt, type WorkerServices } from '#workers/core/scope/attempt.ts'
import { definePlatformHandler } from '#workers/core/scope/handler.ts'
import { createWorkspaceShares } from '#workers/core/workspaces/shares.ts'
import type { AnyHandler } from '#workers/platform/jobs/handler.ts'
import { JobLoop } from '#workers/platform/jobs/job-loop.ts'

const common = {
  work: 'upkeep',
  app: null,
  pool: 'data',
  concurrency: 8,
  timeoutSeconds: 30,
  payload: schema(types.Any()),
  result: schema(types.Any()),
} as const
/** Jobs whose effect is a row that commits with their completion. */
const gated = defineJob({
  ...common,
  name: 'race.gated',
  gate: { name: 'race', perWorkspace: 4, priority: 0 },
  retry: retryPolicies.once,
  tracked: true,
})
const failing = defineJob({ ...common, name: 'race.failing', retry: { limit: 0, delaySeconds: 1 }, tracked: true })
const after = defineJob({ ...common, name: 'race.after', retry: retryPolicies.once, tracked: false })
const loose = defineJob({ ...common, name: 'race.loose', retry: retryPolicies.once, tracked: false })
const declared = [...jobs, gated, failing, after, loose]

/** Operations whose attempts fail. */
const refused = new Set<string>()
const continued: string[] = []
const loosened: string[] = []

const handlers: readonly AnyHandler[] = [
  definePlatformHandler(gated, async ({ jobId, commit }) =>
    commit(async (scope) => {
      await scope.db.query(effectOf(jobId))
      return { result: 1 }
    }),
  ),
  definePlatformHandler(failing, async ({ jobId, payload, commit }) => {
    if (refused.has(payload.name)) throw new Error('refused for the race')
    return commit(async (scope) => {
      await scope.db.query(effectOf(jobId))
      return { result: 1 }
    })
  }),
  definePlatformHandler(after, async ({ payload }) => {
    continued.push(payload.of)
    return { result: null }
  }),
  definePlatformHandler(loose, async ({ payload }) => {
    loosened.push(payload.name)
    return { result: null }
  }),
]

const begin = once(async () => {
  const w = await world({}, ['schedule'])
  await installJobQueues(w.api.services.database, [gated, failing, after, loose], 'dead-letters')
  await createEffects(w.db)
  const services: WorkerServices = { ...w.api.services, db: w.api.services.database, log: createLogger('test', 'silent') }
  const loops = handlers.flatMap((handler) =>
    [1, 2].map(
      () =>
        new JobLoop(handler.job, (row, signal) => runAttempt(handler, row, signal, services), services, createWorkspaceShares(services)),
    ),
  )
  for (const loop of loops) loop.start()
  const timer = setInterval(() => loops.forEach((loop) => void loop.wake()), 20)
  return { w, services, loops, timer }
})

test.after.always(async () => {
  const { w, loops, timer } = await begin()
  clearInterval(timer)
  await Promise.all(loops.map((loop) => loop.stop(1_000)))
  await dropEffects(w.db)
  await w.close()
})

const origin = ({ org }: World) => ({
  workspaceId: org.id,
  cause: platformCause(newId()),
})

const acting =
  (services: WorkerServices) =>
  async (action: JobAction, id: string): Promise<boolean> => {
    const { db, jobQueue, now } = services
    try {
      await db.transaction((tx) => actOnJob({ db: tx, jobQueue, jobs: declared, now }, action, id, { alsoAnswered: true }))
      return true
    } catch (error) {
      if ((error as { code?: string }).code !== 'VALIDATION_ERROR') throw error
      return false
    }
  }

/** Milliseconds from 0 to 12, so that an action meets waiting, running and completing jobs. */
const jitter = () => new Promise((resolve) => setTimeout(resolve, Math.random() * 12))

async function raceCancel(t: ExecutionContext): Promise<'cancelled' | 'done'> {
  const { w, services } = await begin()
  const act = acting(services)
  const from = origin(w)
  const of = newId()
  const continuation = createContinuation(after, from, { of })
  const id = await services.jobQueue.enqueue(services.db, gated, from, {}, { continuation })
  const waiter = w.api.services.waiter.wait(id, 20_000)
  await jitter()
  const cancels = await Promise.all([act('cancel', id), act('cancel', id)])
  const operation = await waiter
  t.true(cancels.filter(Boolean).length <= 1, 'two cancels have one effect')
  const isCancelled = cancels.includes(true)
  t.is(operation?.status, isCancelled ? 'failed' : 'done')
  t.is(operation?.error?.code, isCancelled ? 'CANCELLED' : undefined)
  t.is(await countEffects(w.db, [id]), isCancelled ? 0 : 1, 'the effect commits with the completion alone')
  await eventually(() => continued.includes(of))
  t.is(continued.filter((one) => one === of).length, 1, 'what follows is enqueued once')
  return isCancelled ? 'cancelled' : 'done'
}

test('operator races: of a cancel and a completion at the same moment one counts', async (t) => {
  const { w } = await begin()
  const outcomes = new Set<string>()
  for (let round = 0; round < 20 || (outcomes.size < 2 && round < 200); round++) outcomes.add(await raceCancel(t))
  t.deepEqual([...outcomes].toSorted(), ['cancelled', 'done'], 'both outcomes were met')
  await eventually(async () => (await countRows(w.db, 'gated_jobs')) === 0)
})

test('operator races: of a retry and a discard of a failed job one counts, and a retry runs it once', async (t) => {
  const { w, services } = await begin()
  const act = acting(services)
  const outcomes = new Set<string>()
  for (let round = 0; round < 20; round++) {
    const name = newId()
    refused.add(name)
    const id = await services.jobQueue.enqueue(services.db, failing, origin(w), { name })
    await eventually(async () => (await findOperation(services.db, id))?.status === 'failed')
    await eventually(() => hasDeadLetter(w.db, id))
    refused.delete(name)
    const order: JobAction[] = round % 2 === 0 ? ['retry', 'discard', 'retry', 'discard'] : ['discard', 'retry', 'discard', 'retry']
    const results = await Promise.all(order.map((action) => act(action, id)))
    const counted = order.filter((_, index) => results[index])
    t.is(counted.length, 1, counted.join())
    outcomes.add(counted[0] ?? '')
    if (counted[0] === 'retry') await eventually(async () => (await findOperation(services.db, id))?.status === 'done')
    t.is(await countEffects(w.db, [id]), counted[0] === 'retry' ? 1 : 0)
    t.is((await countOutcomes(w.db, [id]))['failed true'] ?? 0, counted[0] === 'discard' ? 1 : 0)
  }
  t.true(outcomes.size >= 1)
})

test('operator races: a job without an operation runs, or is cancelled before', async (t) => {
  const { w, services } = await begin()
  const act = acting(services)
  const outcomes = new Set<boolean>()
  for (let round = 0; round < 20; round++) {
    const name = newId()
    const id = await services.jobQueue.enqueue(services.db, loose, origin(w), { name })
    if (round % 2 === 0) await jitter()
    const [isCancelled = false] = await Promise.all([act('cancel', id)])
    outcomes.add(isCancelled)
    await eventually(async () => ['completed', 'cancelled'].includes((await readJobState(w.db, loose.name, id)) ?? ''))
    t.is(loosened.includes(name), !isCancelled)
  }
})

test('operator races: an action to all that match ends each job once while workers take from the same queue', async (t) => {
  const { w, services } = await begin()
  const count = 600
  const ids: string[] = []
  const from = origin(w)
  await services.db.transaction(async (tx) => {
    for (let index = 0; index < count; index++) ids.push(await services.jobQueue.enqueue(tx, gated, from, {}))
  })
  const filter = { kind: gated.name, workspace: w.org.id }
  const bounded = boundFilter(declared, 'cancel', filter, new Date(Date.now() + 60_000))
  const saved: number[] = []
  const acted = await actOnAll({ ...services, jobs: declared }, { action: 'cancel', filter: bounded }, noProgress, async (_, { done }) => {
    saved.push(done)
  })
  await eventually(async () => (await countRows(w.db, 'gated_jobs')) === 0)
  const outcomes = await countOutcomes(w.db, ids)
  const [done, cancelled] = [outcomes['done false'] ?? 0, outcomes['failed true'] ?? 0]
  t.is(done + cancelled, count)
  t.is(cancelled, acted.done)
  t.true(acted.done > 0)
  t.is(saved.at(-1), acted.done)
  t.is(await countEffects(w.db, ids), done)
})

test('operator races: an action says how many jobs match when that is not expected', async (t) => {
  const { w, services } = await begin()
  const request_id = newId()
  const cause = { ...origin(w).cause, requestId: request_id }
  await addFailures(w.db, request_id, 11)
  const now = () => new Date(Date.now() + 1_000)
  const file = (expect: number) =>
    services.db.transaction((tx) =>
      fileAction(
        { db: tx, jobQueue: services.jobQueue, jobs: declared, now },
        cause,
        { action: 'discard', filter: { request_id } },
        expect,
      ),
    )
  for (const expect of [0, 9, 13, 1_000])
    await t.throwsAsync(file(expect), { message: /^expect must be about the number of jobs that match, 11, got / })
  const { jobId, total } = await file(10)
  t.is(total, 11)
  await t.throwsAsync(
    services.db.transaction((tx) =>
      fileAction({ db: tx, jobQueue: services.jobQueue, jobs: declared, now }, cause, { action: 'discard', filter: { state: 'done' } }, 1),
    ),
    { message: /^filter\.state must be failed for discard, got done/ },
  )
  w.worker.pools.pollAll()
  t.deepEqual(await eventually(() => readDone(w.db, jobId)), {
    progress: { done: 11, total: 11 },
    result: { done: 11, skipped: 0, skipped_answered: 0 },
  })
  t.is(await countCancelled(w.db, request_id), 11)
})

test('operator races: an action to all leaves out its own job, whatever the clock of its process', async (t) => {
  const { w, services } = await begin()
  const now = () => new Date(Date.now() + 60_000)
  const { jobId } = await services.db.transaction((tx) =>
    fileAction(
      { db: tx, jobQueue: services.jobQueue, jobs: declared, now },
      origin(w).cause,
      { action: 'cancel', filter: { kind: 'jobs.act' } },
      0,
    ),
  )
  w.worker.pools.pollAll()
  t.deepEqual(await eventually(() => readDone(w.db, jobId)), {
    progress: { done: 0, total: 0 },
    result: { done: 0, skipped: 0, skipped_answered: 0 },
  })
})
