import type { Database } from '#shared/platform/db/database.ts'
import { instant, integer, jsonb, type RowOf, text, uuid } from '#shared/platform/db/statements/sql-types.ts'
import { statement } from '#shared/platform/db/statements/statement.ts'
import { type AnyJob, deadLetterQueue, type JobEnvelope } from '#shared/platform/jobs/job.ts'
import type { JobQueue } from '#shared/platform/jobs/job-queue.ts'
import { reopenOperation } from '#shared/platform/jobs/operations/operations.ts'

const letterColumns = {
  /** The id of the job; its operation has the same id, unless the job resumed a parked operation. */
  id: uuid.notNull,
  job: text.notNull,
  workspace_id: text,
  request_id: text.notNull,
  attempts: integer.notNull,
  error: text,
  failed_at: instant.notNull,
}

/** A job whose last attempt failed. It is kept until an operator resends it or two weeks have passed. */
export type DeadLetter = RowOf<typeof letterColumns>

const loadColumns = { job: text.notNull, waiting: integer.notNull, running: integer.notNull }

/** Numbers of waiting and running jobs of a queue. */
export type QueueLoad = RowOf<typeof loadColumns>

const findDeadLetters = statement(
  'jobs.findDeadLetters',
  `select coalesce(source_id, id) as id, coalesce(source_name, name) as job, data ->> 'workspaceId' as workspace_id, data -> 'cause' ->> 'requestId' as request_id,
     source_retry_count + 1 as attempts, output ->> 'message' as error, created_on as failed_at
   from pgboss.job where name = $deadLetters and state = 'created' and source_id is not null order by created_on, id`,
  { params: { deadLetters: text }, columns: letterColumns },
)
/** Lists the dead letters, oldest first. */
export const listDeadLetters = (db: Database): Promise<DeadLetter[]> => db.query(findDeadLetters({ deadLetters: deadLetterQueue }))

const countJobsByQueue = statement(
  'jobs.countJobsByQueue',
  `select job, count(*) filter (where state in ('created', 'retry'))::integer as waiting,
     count(*) filter (where state = 'active')::integer as running
   from (
     select name as job, state::text from pgboss.job where name <> $deadLetters
     union all
     select queue, 'created' from gated_jobs where slot is null
     union all
     select queue, 'created' from deferred_jobs
     union all
     select 'events', 'created' from event_outbox
   ) as held
   group by job order by job`,
  { params: { deadLetters: text }, columns: loadColumns },
)
/** Counts jobs by queue name. Jobs at a gate and deferred jobs count as waiting; undispatched events are the queue `events`. */
export const countQueuedJobs = (db: Database): Promise<QueueLoad[]> => db.query(countJobsByQueue({ deadLetters: deadLetterQueue }))

const deleteDeadLetter = statement(
  'jobs.deleteDeadLetter',
  `delete from pgboss.job where name = $deadLetters and source_id = $id and state = 'created' returning source_name as job, data`,
  { params: { deadLetters: text, id: uuid }, columns: { job: text, data: jsonb.as<JobEnvelope>() } },
)
const deleteFailedJob = statement('jobs.deleteFailedJob', `delete from pgboss.job where name = $queue and id = $id and state = 'failed'`, {
  params: { queue: text, id: uuid },
})

/**
 * Resends a dead letter under its own id; its operation is reopened and continues from its last checkpoint. `jobs` are the declared jobs,
 * of which one gives the queue and gate. Returns false when no dead letter has this id.
 */
export async function resendDeadLetter(db: Database, queue: JobQueue, jobs: readonly AnyJob[], id: string): Promise<boolean> {
  return db.transaction(async (tx) => {
    const [letter] = await tx.query(deleteDeadLetter({ deadLetters: deadLetterQueue, id }))
    if (!letter?.job || !letter.data) return false
    const { job, data } = letter
    await tx.query(deleteFailedJob({ queue: job, id }))
    await reopenOperation(tx, data.operationId ?? id, id)
    await queue.send(tx, jobs.find(({ name }) => name === job) ?? { name: job }, id, data)
    return true
  })
}
