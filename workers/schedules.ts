import cron, { type ScheduledTask } from 'node-cron'
import type { Executor } from '#shared/db/database.ts'
import type { Logger } from '#shared/kernel/log.ts'
import type { Services } from '#shared/scope/scope.ts'
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
      { name, noOverlap: true, logger: quietly(services.log) },
    ),
  )
  return () => {
    for (const task of tasks) void task.stop()
    stop.abort()
  }
}

/** What the clock itself has to say: a sweep that is still at it when it is due again is nothing to warn of, for it is due soon after. */
const quietly = (log: Logger) => ({
  info: () => undefined,
  warn: (message: string) => log.debug({ clock: message }, 'sweep skipped'),
  error: (error: string | Error) => log.error({ err: error }, 'clock of the sweeps'),
  debug: () => undefined,
})
