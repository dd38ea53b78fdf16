import { noteWait } from '#shared/platform/jobs/figures/attempt-figures.ts'
import { jobWaitSeconds } from '#shared/platform/jobs/metrics.ts'
import { endedPartWait } from '#shared/platform/jobs/pgboss/part-waits.ts'
import { idTimeMs } from '#shared/platform/kernel/ids.ts'

/** The columns of a fetched job that its waiting time is computed from. */
interface FetchedJob {
  readonly id: string
  readonly name: string
  readonly retryCount: number
  readonly createdOn: Date | string
  readonly startedOn: Date | string
  readonly output?: object | null
}

/**
 * Records how long a job waited before its first attempt. A job behind a gate enters its queue only when the gate admits it, so its waiting
 * time begins with its id, which holds the time of the enqueue call.
 */
export function recordWaitTime(job: FetchedJob, hasGate: boolean): void {
  const { id, name, retryCount, createdOn, startedOn } = job
  if (retryCount > 0 || endedPartWait(job)) return
  const enqueuedAt = hasGate ? idTimeMs(id) : time(createdOn)
  const ms = Math.max(0, time(startedOn) - enqueuedAt)
  jobWaitSeconds.observe({ queue: name }, ms / 1_000)
  noteWait(name, ms)
}

const time = (instant: Date | string): number => new Date(instant).getTime()
