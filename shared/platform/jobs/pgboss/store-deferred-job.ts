import type { Executor } from '#shared/platform/db/database.ts'
import { integer, text, uuid } from '#shared/platform/db/statements/sql-types.ts'
import { statement } from '#shared/platform/db/statements/statement.ts'

/** An attempt of a job that a worker has fetched: the queue (`name`), the job's id and its retries so far. */
export interface FetchedJob {
  readonly name: string
  readonly id: string
  readonly retryCount: number
}

// The retry count identifies an attempt: each fetch after a failure increments it.
const moveToDeferred = statement(
  'jobs.moveToDeferred',
  `with gone as (
     delete from pgboss.job where name = $name and id = $id and state = 'active' and retry_count = $retryCount returning id, name, data
   ),
   slot as (delete from gated_jobs where workspace_id = $workspaceId and id in (select id from gone))
   insert into deferred_jobs (workspace_id, id, queue, envelope) select $workspaceId, id, name, data from gone returning id`,
  { params: { workspaceId: uuid, name: text, id: uuid, retryCount: integer }, columns: { id: uuid.notNull } },
)
/**
 * Moves a fetched job from its queue and gate to the deferred jobs; its operation does not change. Returns false when another attempt has
 * the job.
 */
export async function storeDeferredJob(db: Executor, workspaceId: string, { name, id, retryCount }: FetchedJob): Promise<boolean> {
  return (await db.query(moveToDeferred({ workspaceId, name, id, retryCount }))).length > 0
}
