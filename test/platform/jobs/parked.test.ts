import test from 'ava'
import { deadLetterQueue, defineJob, retryPolicies } from '#shared/platform/jobs/job.ts'
import { failAbandonedOperations } from '#shared/platform/jobs/operations/abandoned-operations.ts'
import { createContinuation } from '#shared/platform/jobs/operations/continuation.ts'
import { findOperation } from '#shared/platform/jobs/operations/operations.ts'
import { installJobQueues } from '#shared/platform/jobs/pgboss/install-queues.ts'
import { platformCause } from '#shared/platform/kernel/cause.ts'
import { problem } from '#shared/platform/kernel/errors.ts'
import { newId } from '#shared/platform/kernel/ids.ts'
import { createLogger } from '#shared/platform/kernel/log.ts'
import { schema, t as types } from '#shared/platform/kernel/schema.ts'
import { ageOperation, countJobsOfOperation, deleteJob, readAwaited, setContinuedOperation } from '#test/platform/jobs/rows.ts'
import { eventually } from '#test/support/eventually.ts'
import { createMember } from '#test/support/factories.ts'
import { once } from '#test/support/once.ts'
import { countOpenJobs, deleteJobs } from '#test/support/rows.ts'
import { type World, world } from '#test/support/world.ts'
import { runAttempt, type WorkerServices } from '#workers/core/scope/attempt.ts'
import { definePlatformHandler } from '#workers/core/scope/handler.ts'
import { catchRefusal, enterAsPrincipal } from '#workers/core/workspaces/enter-workspace.ts'
import { createWorkspaceShares } from '#workers/core/workspaces/shares.ts'
import type { AnyHandler } from '#workers/platform/jobs/handler.ts'
import { JobLoop } from '#workers/platform/jobs/job-loop.ts'

const job = {
  work: 'upkeep',
  app: null,
  pool: 'data',
  concurrency: 10,
  retry: retryPolicies.once,
  timeoutSeconds: 10,
  payload: schema(types.Any()),
  result: schema(types.Any()),
} as const
const parent = defineJob({ ...job, name: 'test.parent', kind: 'parent', tracked: true })
const child = defineJob({ ...job, name: 'test.child', kind: 'child', tracked: true })
const after = defineJob({ ...job, name: 'test.after', kind: 'after', tracked: false })

let w: World
let services: WorkerServices
/** The results of children by their names. */
const ends = new Map<string, PromiseWithResolvers<unknown>>()
const endOf = (name: string) => {
  const end = ends.get(name) ?? Promise.withResolvers<unknown>()
  ends.set(name, end)
  return end
}
const heard: unknown[] = []
let slots = 0

const handlers: readonly AnyHandler[] = [
  definePlatformHandler(parent, async ({ payload, scope, checkpoint, park }) => {
    if (checkpoint === undefined) {
      return park(async (inside, start) => {
        const children: string[] = []
        for (const name of payload.children) children.push(await start(child, { workspaceId: w.org.id, cause: inside.cause }, { name }))
        return children
      })
    }
    const found = await Promise.all((checkpoint as string[]).map((id) => findOperation(scope.db, id)))
    return { result: found.map((one) => one?.result ?? one?.error?.message) }
  }),
  definePlatformHandler(child, async ({ payload }) => {
    slots += 1
    try {
      return { result: await endOf(payload.name).promise }
    } finally {
      slots -= 1
    }
  }),
  definePlatformHandler(after, async ({ payload, scope }) => {
    const operation = await findOperation(scope.db, payload.operation)
    heard.push([operation?.status, operation?.result ?? operation?.error?.message])
    return { result: null }
  }),
]

let loops: JobLoop[] = []
const origin = () => ({
  workspaceId: w.org.id,
  cause: platformCause('test'),
})

const open = once(async () => {
  w = await world()
  await installJobQueues(w.worker.database, [parent, child, after], deadLetterQueue)
  const { cache, jobQueue, blobs, egress, parts, fieldUses, now, recordGuards, eventFamilies } = w.api.services
  const log = createLogger('test', 'silent')
  services = {
    config: w.config,
    cache,
    jobQueue,
    blobs,
    egress,
    log,
    parts,
    fieldUses,
    now,
    recordGuards,
    eventFamilies,
    db: w.worker.database,
  }
  const shares = createWorkspaceShares(services)
  loops = handlers.map((handler) => new JobLoop(handler.job, (row, signal) => runAttempt(handler, row, signal, services), services, shares))
  for (const loop of loops) loop.start()
})
test.after.always(async () => {
  for (const loop of loops) await loop.stop(0)
  await w?.close()
})

/** Waits for an answer, and lets the loops look for jobs meanwhile. */
const whileWorking = <T>(ask: () => Promise<T>) =>
  eventually(() => {
    for (const loop of loops) loop.wake()
    return ask()
  })
const settledOne = (id: string) =>
  whileWorking(async () => {
    const operation = await findOperation(w.worker.database, id)
    return operation?.finished_at ? operation : undefined
  })
const awaited = (id: string) => readAwaited(w.db, id)
const isParked = (id: string, count: number) => whileWorking(async () => (await awaited(id))?.awaits === count)

test('parked: a parked job holds no slot and no job until every operation that it awaits has ended, and the sweep leaves it alone', async (t) => {
  await open()
  const { jobQueue, db } = services
  const id = await jobQueue.enqueue(db, parent, origin(), { children: ['a', 'b', 'c'] })
  await isParked(id, 3)
  await ageOperation(w.db, id)
  await failAbandonedOperations(db, jobQueue)
  await whileWorking(async () => (await countOpenJobs(w.db, [parent.name])) === 0)
  endOf('a').resolve('first')
  await isParked(id, 2)
  endOf('c').reject(problem('FORBIDDEN', 'third may not'))
  await isParked(id, 1)
  t.like(await awaited(id), { status: 'running' })
  endOf('b').resolve('second')
  t.like(await settledOne(id), { status: 'done', result: ['first', 'second', 'third may not'] })
})

test('parked: one of many operations that end at once resumes the parked job', async (t) => {
  await open()
  const { jobQueue, db } = services
  const names = Array.from({ length: 10 }, (_, number) => `at once ${number}`)
  const id = await jobQueue.enqueue(db, parent, origin(), { children: names })
  await isParked(id, 10)
  await whileWorking(async () => slots >= 10)
  for (const name of names) endOf(name).resolve(name)
  t.like(await settledOne(id), { status: 'done', result: names })
  await w.drain()
  t.is(await countJobsOfOperation(w.db, parent.name, id), 1)
})

test('parked: a parked job whose resumed attempt is lost fails like any other job', async (t) => {
  await open()
  const { jobQueue, db } = services
  const id = await jobQueue.enqueue(db, parent, origin(), { children: ['lost'] })
  await isParked(id, 1)
  await loops[0]?.stop(0)
  endOf('lost').resolve(null)
  await whileWorking(async () => (await awaited(id))?.awaits === null)
  await failAbandonedOperations(db, jobQueue)
  t.like(await awaited(id), { status: 'running' }, 'its job waits in the queue')
  await deleteJobs(w.db, parent.name)
  await ageOperation(w.db, id)
  await failAbandonedOperations(db, jobQueue)
  t.like(await awaited(id), { status: 'failed' })
})

test('parked: the continuation of an operation is enqueued with its completion, whether it succeeds or fails', async (t) => {
  await open()
  const { jobQueue, db } = services
  const begin = async (name: string) => {
    const id = newId()
    const operation = await jobQueue.enqueue(
      db,
      child,
      origin(),
      { name },
      { continuation: createContinuation(after, origin(), { operation: id }) },
    )
    await setContinuedOperation(w.db, operation)
    return operation
  }
  heard.length = 0
  await begin('goes well')
  endOf('goes well').resolve(5)
  await whileWorking(async () => heard.length === 1)
  await begin('goes wrong')
  endOf('goes wrong').reject(problem('VALIDATION_ERROR', 'it is wrong'))
  await whileWorking(async () => heard.length === 2)
  await loops[1]?.stop(0)
  const gone = await begin('goes away')
  await deleteJob(w.db, gone)
  await ageOperation(w.db, gone)
  await failAbandonedOperations(db, jobQueue)
  await whileWorking(async () => heard.length === 3)
  t.deepEqual(heard, [
    ['done', 5],
    ['failed', 'it is wrong'],
    ['failed', 'The work was given up after its last attempt'],
  ])
})

test('parked: work runs with the present permissions of another principal, and a refusal is a result', async (t) => {
  await open()
  const member = await createMember(w, w.org, [{ effect: 'allow', actions: ['records:read'], resources: ['invoices'] }])
  const platform = { ...services, principal: null, cause: origin().cause }
  const scope = await enterAsPrincipal(platform, w.org.id, member.id)
  t.like(scope.cause, { actorId: member.id, actorType: 'user', requestId: 'test' })
  t.is(scope.actor.policy.permits('records:read', 'invoices'), 'always')
  t.is(scope.actor.policy.permits('records:read', 'accounts'), 'never')
  await w.org.owner.delete(`${w.org.path}/members/${member.id}`)
  await services.cache.refresh()
  const { refusal } = await catchRefusal(() => enterAsPrincipal(platform, w.org.id, member.id))
  t.like(refusal, { code: 'FORBIDDEN' })
  t.deepEqual(await catchRefusal(async () => 1), { value: 1 })
  await t.throwsAsync(catchRefusal(async () => Promise.reject(problem('INTERNAL'))))
})
