import type { Executor } from '#shared/platform/db/database.ts'
import { sql } from '#shared/platform/db/statements/statement.ts'
import type { JobEnvelope } from '#shared/platform/jobs/job.ts'

/** A job that some worker has fetched and not settled. */
export interface ActiveJob {
  readonly id: string
  readonly name: string
  readonly data: JobEnvelope
  readonly retryCount: number
  readonly retryLimit: number
  /** Whether its doing had begun. */
  readonly begun: boolean
  /** When its worker last said that it lives, as text that differs from time to time. */
  readonly beat: string
}

// With a group, which jobs of a workspace have, it is the queue's small index of what is active that is read: pg-boss keeps what is done for
// an hour. Their operations are looked up one by one: joined, all that wait were read for the few that are active, 25 to 420 ms beside 100,000.
const find = sql(
  'find_active_jobs',
  `select job.id, job.name, job.data, job.retry_count as "retryCount", job.retry_limit as "retryLimit", job.heartbeat_on::text as beat,
     operation.status = 'running' as begun
   from pgboss.job as job
   cross join lateral (
     select status from operations
     where operations.id = coalesce((job.data ->> 'operationId')::uuid, job.id) and operations.status in ('queued', 'running') limit 1
   ) as operation
   where job.name = any($1::text[]) and job.state = 'active' and job.group_id is not null
   order by job.id`,
)
/** The tracked jobs of these queues that are being done for workspaces. */
export const findActiveJobs = (db: Executor, queues: readonly string[]): Promise<ActiveJob[]> => db.query<ActiveJob>(find(queues))

// An attempt is known by its number: whoever fetches the job again counts one up.
const giveBack = sql(
  'give_back_job',
  `update pgboss.job set state = 'retry', start_after = now(), heartbeat_on = null
   where name = $1 and id = $2 and state = 'active' and retry_count = $3 and retry_count < retry_limit
   returning id`,
)
/**
 * Puts a job that nobody does any more back into its queue, to be fetched at once. False when somebody has it by now, and for one that has
 * no attempt left: the queue itself makes that a dead letter.
 */
export async function returnJobToQueue(
  db: Executor,
  { name, id, retryCount }: Pick<ActiveJob, 'name' | 'id' | 'retryCount'>,
): Promise<boolean> {
  return (await db.query(giveBack(name, id, retryCount))).length > 0
}
