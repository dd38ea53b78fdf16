import test, { type ExecutionContext } from 'ava'
import { setSharesApart } from '#shared/core/workspaces/owners.ts'
import { deadLetterQueue, defineJob, retryPolicies } from '#shared/platform/jobs/job.ts'
import { installJobQueues } from '#shared/platform/jobs/pgboss/install-queues.ts'
import { platformCause } from '#shared/platform/kernel/cause.ts'
import { createLogger } from '#shared/platform/kernel/log.ts'
import { schema, t as types } from '#shared/platform/kernel/schema.ts'
import { countWaitingJobs, moveWorkspace } from '#test/platform/jobs/rows.ts'
import { eventually } from '#test/support/eventually.ts'
import { createOrg, createPerson } from '#test/support/factories.ts'
import { world } from '#test/support/world.ts'
import { createWorkspaceShares } from '#workers/core/workspaces/shares.ts'
import { JobLoop } from '#workers/platform/jobs/job-loop.ts'

const job = defineJob({
  name: 'test.shares',
  work: 'upkeep',
  app: null,
  pool: 'data',
  concurrency: 6,
  slotsPerWorkspace: 2,
  retry: retryPolicies.once,
  timeoutSeconds: 60,
  tracked: false,
  payload: schema(types.Object({})),
  result: schema(types.Null()),
})

/**
 * A loop whose attempts end when the test says so. Workspaces `a1` to `a3` belong to one owner, `b`, `c` and `d` to others. `started` has the
 * workspaces of the attempts in the order in which they began.
 */
async function openLoop(t: ExecutionContext) {
  const w = await world({}, [])
  t.teardown(w.close)
  await installJobQueues(w.worker.database, [job], deadLetterQueue)
  const owner = await createPerson(w, 'Anna')
  const ids = new Map<string, string>()
  for (const name of ['a1', 'a2', 'a3']) ids.set(name, (await createOrg(w, name, 'paid', owner)).id)
  for (const name of ['b', 'c', 'd']) ids.set(name, (await createOrg(w, name)).id)
  const names = new Map([...ids].map(([name, id]) => [id, name]))
  const started: string[] = []
  const running: { readonly name: string; readonly end: () => void }[] = []
  let endedCount = 0
  const { cache, jobQueue } = w.api.services
  const services = { db: w.worker.database, jobQueue, log: createLogger('test', 'silent') }
  const attempt = async ({ data }: { readonly data: { readonly workspaceId: string | null } }) => {
    const name = names.get(data.workspaceId ?? '') ?? ''
    const ended = Promise.withResolvers<void>()
    started.push(name)
    running.push({ name, end: ended.resolve })
    await ended.promise
    return 'ended' as const
  }
  const loop = new JobLoop(job, attempt, services, createWorkspaceShares({ cache, db: w.worker.database }))
  loop.start()
  const close = async () => {
    await eventually(async () => {
      for (const { end } of running.splice(0)) end()
      if (!loop.idle) return false
      loop.wake()
      return (await countWaitingJobs(w.db, job.name)) === 0
    })
    await loop.stop(0)
  }
  t.teardown(close)
  const cause = platformCause('test')
  return {
    w,
    owner,
    started,
    enqueue: async (...workspaces: string[]) => {
      for (const name of workspaces) await jobQueue.enqueue(services.db, job, { workspaceId: ids.get(name) ?? '', cause }, {})
    },
    /** Lets the loop look for jobs, and returns the workspaces of those that it takes. */
    look: async () => {
      const before = started.length
      loop.wake()
      await eventually(async () => loop.isQuiet)
      return started.slice(before)
    },
    /** Ends an attempt of a workspace, and returns the workspaces of those that begin in its place. */
    end: async (name: string) => {
      const before = started.length
      const [one] = running.splice(
        running.findIndex((each) => each.name === name),
        1,
      )
      one?.end()
      endedCount += 1
      await eventually(async () => loop.isQuiet && loop.holders.length === started.length - endedCount)
      return started.slice(before)
    },
    close,
  }
}

test('shares: while other work waits, the workspaces of one owner hold the slots of one workspace', async (t) => {
  const { enqueue, look, end, started, close } = await openLoop(t)
  await enqueue('a1', 'a1', 'a2', 'a2', 'a3', 'a3', 'b', 'b', 'c', 'c', 'd', 'd')
  t.deepEqual(await look(), ['a1', 'a1', 'b', 'b', 'c', 'c'])
  t.deepEqual(await end('a1'), ['a2'], 'its next job is the oldest that waits')
  t.deepEqual(await end('b'), ['d'], 'a share that is full waits, however old its jobs are')
  t.deepEqual(await end('a2'), ['a2'])
  t.deepEqual(await end('c'), ['d'])
  t.deepEqual(await end('c'), ['a3'], 'nobody else waits')
  await close()
  t.is(started.length, 12)
})

test('shares: alone, each workspace of an owner has its slots, and others find theirs free all the same', async (t) => {
  const { enqueue, look, end, started, close } = await openLoop(t)
  await enqueue('a1', 'a1', 'a1', 'a2', 'a2', 'a3', 'a3')
  t.deepEqual((await look()).sort(), ['a1', 'a1', 'a2', 'a2', 'a3', 'a3'], 'all six slots, and two of each workspace')
  await enqueue('b', 'b', 'b', 'c', 'c', 'd')
  t.deepEqual(await look(), ['b', 'b', 'c', 'c'], 'the four slots that the owner would leave to others')
  t.deepEqual(await end('a2'), [], 'the owner is still beyond its share')
  t.deepEqual(await end('b'), ['b'])
  t.deepEqual(await end('b'), ['d'])
  await close()
  t.is(started.length, 13)
})

test('shares: workspaces that count one by one have the slots of as many workspaces', async (t) => {
  const { w, owner, enqueue, look, end, started, close } = await openLoop(t)
  await setSharesApart({ db: w.worker.database }, owner.id, true)
  await w.api.services.cache.refresh()
  await enqueue('a1', 'a1', 'a2', 'a2', 'a3', 'a3', 'b', 'b')
  t.deepEqual(await look(), ['a1', 'a1', 'a2', 'a2', 'a3', 'a3'])
  t.deepEqual(await end('a1'), ['b'])
  await close()
  t.is(started.length, 8)
})

test('shares: workspaces of one owner that have just been made or moved count in its share', async (t) => {
  const { w, owner, enqueue, look, end, close } = await openLoop(t)
  await enqueue('a1', 'a1', 'b', 'b', 'c', 'c')
  t.deepEqual(await look(), ['a1', 'a1', 'b', 'b', 'c', 'c'])
  await moveWorkspace(w.db, 'd', owner.id)
  await w.api.services.cache.refresh()
  await enqueue('d', 'c')
  t.deepEqual(await end('c'), ['c'], 'the owner has its share already')
  t.deepEqual(await end('b'), ['d'], 'nobody else waits')
  await close()
})
