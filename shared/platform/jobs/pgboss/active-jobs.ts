import type { Executor } from '#shared/platform/db/database.ts'
import { boolean, integer, jsonb, type RowOf, text, texts, uuid, uuids } from '#shared/platform/db/statements/sql-types.ts'
import { statement } from '#shared/platform/db/statements/statement.ts'
import type { JobEnvelope } from '#shared/platform/jobs/job.ts'

const columns = {
  id: uuid.notNull,
  name: text.notNull,
  data: jsonb.as<JobEnvelope>().notNull,
  retryCount: integer.notNull,
  retryLimit: integer.notNull,
  /** The time of the last heartbeat as text, only for comparison. */
  heartbeat: text,
  /** Whether its operation is running. */
  begun: boolean.notNull,
}

/** A job that a worker has fetched and not completed. */
export type ActiveJob = RowOf<typeof columns>

// Only jobs of a workspace have a group; with the condition on the group PostgreSQL uses the small index of active jobs (pg-boss keeps
// completed jobs for an hour). The operation of each job is read on its own: a plain join read all waiting jobs to find the few active
// ones, 25 to 420 ms when 100,000 wait.
const selectActiveJobs = statement(
  'jobs.selectActiveJobs',
  `select job.id, job.name, coalesce(job.data, '{}') as data, job.retry_count as "retryCount", job.retry_limit as "retryLimit", job.heartbeat_on::text as heartbeat,
     operation.status = 'running' as begun
   from pgboss.job as job
   cross join lateral (
     select status from operations
     where operations.id = coalesce((job.data ->> 'operationId')::uuid, job.id) and operations.status in ('queued', 'running') limit 1
   ) as operation
   where job.name = any($queues::text[]) and job.state = 'active' and job.group_id is not null
   order by job.id`,
  { params: { queues: texts }, columns },
)
/** Finds the active tracked jobs of these queues that have a workspace. */
export const findActiveJobs = (db: Executor, queues: readonly string[]): Promise<ActiveJob[]> => db.query(selectActiveJobs({ queues }))

// The retry count identifies an attempt: each fetch after a failure increments it.
const setToRetry = statement(
  'jobs.setToRetry',
  `update pgboss.job set state = 'retry', start_after = now(), heartbeat_on = null
   where name = $name and id = $id and state = 'active' and retry_count = $retryCount and retry_count < retry_limit
   returning id`,
  { params: { name: text, id: uuid, retryCount: integer }, columns: { id: uuid.notNull } },
)
/**
 * Returns an abandoned job to its queue, due at once. Returns false when another attempt has it, or when it has no attempt left: then pg-boss
 * makes it a dead letter.
 */
export async function returnJobToQueue(
  db: Executor,
  { name, id, retryCount }: Pick<ActiveJob, 'name' | 'id' | 'retryCount'>,
): Promise<boolean> {
  return (await db.query(setToRetry({ name, id, retryCount }))).length > 0
}

// pg-boss's own `touch` does not tell which jobs are not active any more.
const touchJobs = statement(
  'jobs.touchJobs',
  `with touched as (
     update pgboss.job set heartbeat_on = pgboss.job_now() where name = $name and id = any($ids) and state = 'active'
   )
   select id from pgboss.job where name = $name and id = any($ids) and state = 'cancelled'`,
  { params: { name: text, ids: uuids }, columns: { id: uuid.notNull } },
)
/** Sends the heartbeat of a queue's running jobs. Returns those that an operator has cancelled. */
export const sendHeartbeats = async (db: Executor, name: string, ids: readonly string[]): Promise<string[]> =>
  (await db.query(touchJobs({ name, ids }))).map(({ id }) => id)
