import type { JobWithMetadata } from 'pg-boss'
import { isOverloaded, partAwayOf } from '#shared/platform/db/database-errors.ts'
import { mayWaitForPart } from '#shared/platform/jobs/pgboss/part-waits.ts'
import { Problem } from '#shared/platform/kernel/errors.ts'

type FetchedJob = Pick<JobWithMetadata, 'retryCount' | 'retryLimit'> & Partial<Pick<JobWithMetadata, 'output' | 'startedOn'>>

/** What follows a failed attempt. `part` is the part that was away, if any. */
interface AfterFailure {
  readonly part: string | undefined
  /**
   * `waits`: the job waits for the part, and the attempt does not count. `answered`: the failure is the caller's, and is the result of the
   * job. `retried`: another attempt follows, after the delay of the job's `retry`. `dead`: this was the last attempt.
   */
  readonly outcome: 'waits' | 'answered' | 'retried' | 'dead'
}

/** Decides what follows a failed attempt of a job (docs/decisions/one-retry.md). No other place does. */
export function judgeFailure(job: FetchedJob, error: unknown): AfterFailure {
  const part = partAwayOf(error)
  if (part !== undefined && mayWaitForPart(job)) return { part, outcome: 'waits' }
  const isCallers = error instanceof Problem && part === undefined && !isOverloaded(error) && (error.status < 500 || error.expected)
  if (isCallers) return { part, outcome: 'answered' }
  return { part, outcome: job.retryCount >= job.retryLimit ? 'dead' : 'retried' }
}
