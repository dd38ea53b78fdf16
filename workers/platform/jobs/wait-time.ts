import { jobWaitSeconds } from '#shared/platform/jobs/metrics.ts'
import { idTimeMs } from '#shared/platform/kernel/ids.ts'

/** The columns of a fetched job that its waiting time is computed from. */
interface FetchedJob {
  readonly id: string
  readonly name: string
  readonly retryCount: number
  readonly createdOn: Date | string
  readonly startedOn: Date | string
}

/**
 * Records how long a job waited before its first attempt. A job behind a gate enters its queue only when the gate admits it, so its waiting
 * time begins with its id, which holds the time of the enqueue call.
 */
export function recordWaitTime({ id, name, retryCount, createdOn, startedOn }: FetchedJob, hasGate: boolean): void {
  if (retryCount > 0) return
  const enqueuedAt = hasGate ? idTimeMs(id) : time(createdOn)
  jobWaitSeconds.observe({ queue: name }, Math.max(0, time(startedOn) - enqueuedAt) / 1_000)
}

const time = (instant: Date | string): number => new Date(instant).getTime()
