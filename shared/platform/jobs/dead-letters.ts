import type { Database } from '#shared/platform/db/database.ts'
import { sql } from '#shared/platform/db/statements/statement.ts'
import { type AnyJob, deadLetterQueue, type JobEnvelope } from '#shared/platform/jobs/job.ts'
import type { JobQueue } from '#shared/platform/jobs/job-queue.ts'
import { reopenOperation } from '#shared/platform/jobs/operations/operations.ts'

/** A job whose last attempt failed. It is kept until an operator resends it or two weeks have passed. */
export interface DeadLetter {
  /** The id of the job; its operation has the same id, unless the job resumed a parked operation. */
  readonly id: string
  readonly job: string
  readonly workspace_id: string | null
  readonly request_id: string
  readonly attempts: number
  readonly error: string | null
  readonly failed_at: string
}

/** Numbers of waiting and running jobs of a queue. */
export interface QueueLoad {
  readonly job: string
  readonly waiting: number
  readonly running: number
}

const list = sql(
  'list_dead_letters',
  `select source_id as id, source_name as job, data ->> 'workspaceId' as workspace_id, data -> 'cause' ->> 'requestId' as request_id,
     source_retry_count + 1 as attempts, output ->> 'message' as error, created_on as failed_at
   from pgboss.job where name = $1 and state = 'created' and source_id is not null order by created_on, id`,
)
/** Lists the dead letters, oldest first. */
export const listDeadLetters = (db: Database): Promise<DeadLetter[]> => db.query<DeadLetter>(list(deadLetterQueue))

const load = sql(
  'count_queued_jobs',
  `select job, count(*) filter (where state in ('created', 'retry'))::integer as waiting,
     count(*) filter (where state = 'active')::integer as running
   from (
     select name as job, state::text from pgboss.job where name <> $1
     union all
     select queue, 'created' from gated_jobs where slot is null
     union all
     select queue, 'created' from resting_jobs
     union all
     select 'events', 'created' from event_outbox
   ) as held
   group by job order by job`,
)
/** Counts jobs by queue name. Jobs at a gate and deferred jobs count as waiting; undispatched events are the queue `events`. */
export const countQueuedJobs = (db: Database): Promise<QueueLoad[]> => db.query<QueueLoad>(load(deadLetterQueue))

const take = sql(
  'take_dead_letter',
  'delete from pgboss.job where name = $1 and source_id = $2 and state = $3 returning source_name as job, data',
)
const clear = sql('clear_failed_job', `delete from pgboss.job where name = $1 and id = $2 and state = 'failed'`)

/**
 * Resends a dead letter under its own id; its operation is reopened and continues from its last checkpoint. `jobs` are the declared jobs,
 * of which one gives the queue and gate. Returns false when no dead letter has this id.
 */
export async function resendDeadLetter(db: Database, queue: JobQueue, jobs: readonly AnyJob[], id: string): Promise<boolean> {
  return db.transaction(async (tx) => {
    const [letter] = await tx.query<{ job: string; data: JobEnvelope }>(take(deadLetterQueue, id, 'created'))
    if (!letter) return false
    await tx.query(clear(letter.job, id))
    await reopenOperation(tx, letter.data.operationId ?? id, id)
    await queue.send(tx, jobs.find(({ name }) => name === letter.job) ?? { name: letter.job }, id, letter.data)
    return true
  })
}
