import test from 'ava'
import { Database } from '#shared/platform/db/database.ts'
import { NotificationListener } from '#shared/platform/db/pool/notification-listener.ts'
import { deadLetterQueue, defineJob, retryPolicies } from '#shared/platform/jobs/job.ts'
import { JobQueue } from '#shared/platform/jobs/job-queue.ts'
import { signalChannels } from '#shared/platform/jobs/job-signals.ts'
import { pauseKind, resumeKind } from '#shared/platform/jobs/pauses/pause.ts'
import { installJobQueues } from '#shared/platform/jobs/pgboss/install-queues.ts'
import { platformCause } from '#shared/platform/kernel/cause.ts'
import { Problem } from '#shared/platform/kernel/errors.ts'
import { createLogger } from '#shared/platform/kernel/log.ts'
import { schema, t as types } from '#shared/platform/kernel/schema.ts'
import { countWaitingJobs } from '#test/platform/jobs/rows.ts'
import { times } from '#test/support/depth.ts'
import { eventually } from '#test/support/eventually.ts'
import { world } from '#test/support/world.ts'
import { createWorkspaceShares } from '#workers/core/workspaces/shares.ts'
import { JobLoop } from '#workers/platform/jobs/job-loop.ts'

const job = defineJob({
  name: 'test.paused',
  work: 'upkeep',
  app: null,
  pool: 'data',
  concurrency: 4,
  retry: retryPolicies.once,
  timeoutSeconds: 60,
  tracked: false,
  payload: schema(types.Object({ number: types.Number() })),
  result: schema(types.Null()),
})

const log = createLogger('test', 'silent')
const cause = platformCause('test')

test('pause races: of many pauses and resumes at once each change happens once, nothing starts in a pause, and each job runs once', async (t) => {
  const w = await world({}, [])
  t.teardown(w.close)
  await installJobQueues(w.worker.database, [job], deadLetterQueue)
  const ran: number[] = []
  const openProcess = async () => {
    const database = new Database(w.config.databaseUrl, { connections: 3, name: 'race', statementTimeoutMs: 60_000 })
    const queue = new JobQueue(database, { supervise: false })
    await queue.open(() => undefined)
    const attempt = async ({ data }: { readonly data: { readonly payload: unknown } }) => {
      ran.push((data.payload as { number: number }).number)
      return 'ended' as const
    }
    const services = { db: database, jobQueue: queue, log }
    const loop = new JobLoop(job, attempt, services, createWorkspaceShares({ cache: w.api.services.cache, db: database }))
    await queue.pauses.open(log)
    queue.pauses.onChange(() => loop.wake())
    const listener = new NotificationListener(w.config.databaseUrl, 'race', {
      [signalChannels.filled]: { receive: () => loop.wake(), missed: () => loop.wake() },
      [signalChannels.paused]: { receive: () => queue.pauses.refresh(), missed: () => queue.pauses.refresh() },
    })
    await listener.open()
    loop.start()
    t.teardown(async () => {
      await loop.stop(0)
      await listener.close()
      await queue.close()
      await database.close()
    })
    return { database, queue, loop }
  }
  const processes = [await openProcess(), await openProcess(), await openProcess()]
  const [{ database, queue }] = processes as [(typeof processes)[0]]
  const tryAll = async (change: typeof pauseKind) => {
    const outcomes = await Promise.all(
      processes.flatMap((one) =>
        Array.from({ length: 3 }, () =>
          one.database
            .transaction((tx) => change(tx, one.queue, [job], job.name))
            .then(
              () => 'done',
              (error: unknown) => (error instanceof Problem ? error.code : String(error)),
            ),
        ),
      ),
    )
    return outcomes.filter((outcome) => outcome !== 'VALIDATION_ERROR')
  }
  let number = 0
  const enqueue = async (count: number) => {
    for (let n = 0; n < count; n++) await queue.enqueue(database, job, { workspaceId: w.org.id, cause }, { number: number++ })
  }
  const known = (isPaused: boolean) => eventually(() => processes.every((one) => one.queue.pauses.has(job.name) === isPaused))
  for (let round = 0; round < times(4, 20); round++) {
    const [paused] = await Promise.all([tryAll(pauseKind), enqueue(20)])
    t.deepEqual(paused, ['done'])
    await known(true)
    await eventually(() => processes.every(({ loop }) => loop.idle))
    const before = ran.length
    await enqueue(5)
    for (const { loop } of processes) loop.wake()
    await eventually(() => processes.every(({ loop }) => loop.idle))
    t.is(ran.length, before, 'nothing starts in a pause')
    t.true((await countWaitingJobs(w.db, job.name)) >= 5)
    const [resumed] = await Promise.all([tryAll(resumeKind), enqueue(5)])
    t.deepEqual(resumed, ['done'])
    await eventually(() => ran.length === number)
  }
  t.deepEqual(
    ran.toSorted((a, b) => a - b),
    Array.from({ length: number }, (_, index) => index),
    'each job ran once',
  )
  await eventually(() => processes.every(({ loop }) => loop.idle))
})
