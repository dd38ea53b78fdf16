import type { Executor } from '#shared/platform/db/database.ts'
import { json, text, uuid } from '#shared/platform/db/statements/sql-types.ts'
import { asUnprepared, statement } from '#shared/platform/db/statements/statement.ts'
import type { JobQueue } from '#shared/platform/jobs/job-queue.ts'
import { isJobOpen } from '#shared/platform/jobs/pgboss/conditions.ts'
import { problem } from '#shared/platform/kernel/errors.ts'

// Unprepared: the tables may be empty or full, and each needs its own plan.
const setAbandoned = statement(
  'jobs.setAbandoned',
  `update operations as operation
   set status = 'failed', error = $error::json, awaits = null, finished_at = now()
   where operation.finished_at is null
     and operation.awaits is null
     and operation.created_at < now() - interval '15 seconds'
     and not ${isJobOpen('= operation.job', 'coalesce(operation.job_id, operation.id)')}
     and not exists (select from gated_jobs as job where job.id = operation.id and job.slot is null)
     and not exists (
       select from deferred_jobs as job
       where job.workspace_id = operation.workspace_id and job.id = coalesce(operation.job_id, operation.id)
     )
   returning operation.id, operation.continuation ->> 'queue' as continues`,
  { params: { error: json }, columns: { id: uuid.notNull, continues: text } },
)

/**
 * Fails operations whose job ended without completing them: its last worker was killed, or the job was cancelled. Their callers receive a
 * failure instead of waiting forever. Excluded are operations younger than 15 seconds, operations whose job waits at a gate, parked
 * operations, since the operations that they await are checked here too, and operations of deferred jobs, which wait for their workspace.
 */
export async function failAbandonedOperations(db: Executor, queue: JobQueue): Promise<void> {
  const error = JSON.stringify(problem('INTERNAL', 'The work was given up after its last attempt').toJSON())
  const failed = await db.query(asUnprepared(setAbandoned({ error })))
  for (const { id, continues } of failed) db.afterCommit(() => queue.signals.signalFailure(id, continues))
}
