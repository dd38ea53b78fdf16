import type { Tx } from '#shared/platform/db/database.ts'
import { boolean, integer, json, jsonb, text, texts, uuid, uuids } from '#shared/platform/db/statements/sql-types.ts'
import { asUnprepared, statement } from '#shared/platform/db/statements/statement.ts'
import { deadLetterQueue, type JobEnvelope } from '#shared/platform/jobs/job.ts'
import { letterKey, presentJob } from '#shared/platform/jobs/pgboss/operator/state.ts'
import type { StoredProblem } from '#shared/platform/kernel/errors.ts'

// Rows are locked in the order of their ids, those of the queue before the operations, as a job's wait for a part locks them.

const lockJobs = statement(
  'jobs.lockJobs',
  `select job.id from pgboss.job as job
   join (
     select operation.job as name, ${presentJob} as id from operations as operation where operation.id = any($ids) and operation.finished_at is null
   ) as wanted on job.name = wanted.name and job.id = wanted.id
   where job.state <= 'active' order by job.id for update of job`,
  { params: { ids: uuids }, columns: { id: uuid.notNull } },
)

const ended = { id: uuid.notNull, job: text.notNull, job_id: uuid.notNull, workspace_id: uuid, continues: text }

// Completing releases the gate's slot, or the place at the gate, and enqueues the continuation (migration 0002).
const cancelOperations = statement(
  'jobs.cancelOperations',
  `with open as materialized (
     select id from operations where id = any($ids) and finished_at is null order by id for update
   )
   update operations as operation
   set status = 'failed', is_cancelled = true, error = $error::json, result = null, awaits = null, awaits_part = null, checkpoint = null,
     finished_at = clock_timestamp()
   from open where operation.id = open.id and operation.finished_at is null
   returning operation.id, operation.job, ${presentJob} as job_id, operation.workspace_id, operation.continuation ->> 'queue' as continues`,
  { params: { ids: uuids, error: json }, columns: ended },
)

const removeJobs = statement(
  'jobs.removeJobs',
  `with removed as (
     delete from deferred_jobs as deferred using unnest($workspaces::uuid[], $ids::uuid[]) as gone (workspace_id, id)
     where deferred.workspace_id = gone.workspace_id and deferred.id = gone.id
   )
   update pgboss.job as job set state = 'cancelled', completed_on = now()
   from unnest($names::text[], $ids::uuid[]) as gone (name, id)
   where job.name = gone.name and job.id = gone.id and job.state <= 'active' returning job.id`,
  { params: { names: texts, ids: uuids, workspaces: uuids }, columns: { id: uuid.notNull } },
)

/** An operation that was cancelled, the job that it had, and the queue of its continuation. */
export type CancelledOperation = {
  readonly id: string
  readonly job: string
  readonly workspace_id: string | null
  readonly continues: string | null
  /** Whether its job was in the queue, so that it held a slot if it has a gate. */
  readonly wasQueued: boolean
}

/** Cancels those of these operations that are open, and takes their jobs from the queue. What an attempt writes later does not commit. */
export async function cancelOpenOperations(tx: Tx, ids: readonly string[], error: StoredProblem): Promise<CancelledOperation[]> {
  await tx.query(asUnprepared(lockJobs({ ids })))
  const cancelled = await tx.query(asUnprepared(cancelOperations({ ids, error: JSON.stringify(error) })))
  if (cancelled.length === 0) return []
  const removed = await tx.query(
    asUnprepared(
      removeJobs({
        names: cancelled.map(({ job }) => job),
        ids: cancelled.map(({ job_id }) => job_id),
        workspaces: cancelled.map(({ workspace_id }) => workspace_id),
      }),
    ),
  )
  const queued = new Set(removed.map(({ id }) => id))
  return cancelled.map(({ job_id, ...operation }) => ({ ...operation, wasQueued: queued.has(job_id) }))
}

const envelopeColumns = { id: uuid.notNull, name: text.notNull, envelope: jsonb.as<JobEnvelope>().notNull }

const cancelQueued = statement(
  'jobs.cancelQueued',
  `with waiting as materialized (
     select job.name, job.id from pgboss.job as job
     join unnest($names::text[], $ids::uuid[]) as wanted (name, id) on job.name = wanted.name and job.id = wanted.id
     where job.state < 'active' order by job.id for update of job
   ),
   removed as (
     delete from deferred_jobs where id = any($ids) and queue = any($names) returning id, queue, envelope
   ),
   cancelled as (
     update pgboss.job as job set state = 'cancelled', completed_on = now()
     from waiting where job.name = waiting.name and job.id = waiting.id and job.state < 'active' returning job.id, job.name, job.data
   )
   select id, name, data as envelope from cancelled union all select id, queue, envelope from removed`,
  { params: { names: texts, ids: uuids }, columns: envelopeColumns },
)
/** Cancels those of these jobs without operations that wait or are deferred. They are kept for an hour, so that their ids stay taken. */
export const cancelWaitingJobs = (tx: Tx, jobs: readonly { readonly name: string; readonly id: string }[]) =>
  tx.query(asUnprepared(cancelQueued({ names: jobs.map(({ name }) => name), ids: jobs.map(({ id }) => id) })))

const discardLetters = statement(
  'jobs.discardLetters',
  `with letters as materialized (
     select letter.id, letter.source_id, letter.source_name, ${letterKey} as key from pgboss.job as letter
     where letter.name = $deadLetters and letter.state = 'created' and letter.source_id is not null and ${letterKey} = any($ids)
     order by letter.id for update of letter
   ),
   marked as (
     update operations as operation set is_cancelled = true
     where operation.id = any($ids) and operation.status = 'failed' and not operation.is_cancelled
       and (select count(*) from letters) >= 0
     returning operation.id, operation.job, ${presentJob} as job_id
   ),
   gone as (
     delete from pgboss.job as letter using letters
     where letter.name = $deadLetters and letter.id = letters.id
       and (letters.key in (select id from marked) or letters.source_name = any($untracked)) returning letters.key as id
   ),
   kept as (
     update pgboss.job as job set state = 'cancelled'
     from (select job as name, job_id as id from marked union select source_name, source_id from letters where source_name = any($untracked)) as ended
     where job.name = ended.name and job.id = ended.id and job.state = 'failed'
   )
   select id from marked union select id from gone`,
  { params: { ids: uuids, untracked: texts, deadLetters: text }, columns: { id: uuid.notNull } },
)
/** Discards those of these jobs that have failed, and their dead letters. Returns their ids. */
export const discardFailed = (tx: Tx, ids: readonly string[], untracked: readonly string[]) =>
  tx.query(asUnprepared(discardLetters({ ids, untracked, deadLetters: deadLetterQueue })))

// pg-boss's columns may be null; those of a dead letter and of Kontor's jobs are not.
const lockLetter = statement(
  'jobs.lockLetter',
  `select coalesce(letter.source_id, letter.id) as id, coalesce(letter.source_name, letter.name) as name, coalesce(letter.data, '{}') as envelope
   from pgboss.job as letter
   where letter.name = $deadLetters and letter.state = 'created' and letter.source_id is not null and ${letterKey} = $id
   order by letter.id limit 1 for update`,
  { params: { deadLetters: text, id: uuid }, columns: envelopeColumns },
)
const lockEnded = statement(
  'jobs.lockEnded',
  `select job.id, job.name, coalesce(job.data, '{}') as envelope from operations as operation
   join pgboss.job as job on job.name = operation.job and job.id = ${presentJob}
   where operation.id = $id and operation.status = 'failed' and job.state in ('completed', 'failed') for update of job`,
  { params: { id: uuid }, columns: envelopeColumns },
)
/**
 * Finds and locks what is kept of a failed job: its dead letter, or the ended job of the last hour, which a failure of the caller leaves.
 * Undefined when neither is kept.
 */
export async function lockFailedJob(tx: Tx, id: string) {
  const [letter] = await tx.query(asUnprepared(lockLetter({ deadLetters: deadLetterQueue, id })))
  if (letter) return { ...letter, isLetter: true }
  const [job] = await tx.query(asUnprepared(lockEnded({ id })))
  return job && { ...job, isLetter: false }
}

const selectFailure = statement(
  'jobs.selectFailure',
  `select failure_answered_at is not null or continuation is not null as "isAnswered" from operations
   where id = $id and status = 'failed' and not is_cancelled for update`,
  { params: { id: uuid }, columns: { isAnswered: boolean.notNull } },
)
/** Whether somebody was given the failure of an operation: a caller, or the work that awaited it. Undefined when it has not failed. */
export async function lockFailure(tx: Tx, id: string): Promise<boolean | undefined> {
  return (await tx.query(asUnprepared(selectFailure({ id }))))[0]?.isAnswered
}

const deleteKept = statement(
  'jobs.deleteKept',
  `delete from pgboss.job as letter
   where (letter.name = $name and letter.id = $jobId and letter.state > 'active')
     or (letter.name = $deadLetters and letter.source_id is not null and ${letterKey} = $id)`,
  { params: { name: text, jobId: uuid, id: uuid, deadLetters: text } },
)
/** Deletes what is kept of a failed job, so that its id is free for another attempt. */
export const deleteFailedJob = (tx: Tx, id: string, { name, id: jobId }: { readonly name: string; readonly id: string }) =>
  tx.query(asUnprepared(deleteKept({ name, jobId, id, deadLetters: deadLetterQueue })))

const countLetters = statement(
  'jobs.countLetters',
  `select count(*)::integer as count from pgboss.job where name = $deadLetters and state = 'created' and source_id is not null`,
  { params: { deadLetters: text }, columns: { count: integer.notNull } },
)
/** The number of dead letters. */
export const countDeadLetters = () => asUnprepared(countLetters({ deadLetters: deadLetterQueue }))
