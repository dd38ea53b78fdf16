import cron, { type ScheduledTask } from 'node-cron'
import type { Services } from '#shared/access/scope.ts'
import type { Executor } from '#shared/db/database.ts'
import { sweeps } from '#workers/maintenance/sweeps.ts'

/** Keeps house on a clock of its own; every sweep takes its lock in the database, so of several processes one does it. */
export function startSchedules(services: Services & { db: Executor }): () => void {
  const stop = new AbortController()
  const tasks: ScheduledTask[] = sweeps.map(({ name, every, run }) =>
    cron.schedule(
      every,
      async () => {
        await run(services, stop.signal).catch((error: unknown) => {
          if (!stop.signal.aborted) services.log.error({ err: error, sweep: name }, 'sweep failed')
        })
      },
      { name, noOverlap: true },
    ),
  )
  return () => {
    for (const task of tasks) void task.stop()
    stop.abort()
  }
}
