import type { Executor } from '#shared/platform/db/database.ts'
import { jsonb, text, uuid } from '#shared/platform/db/statements/sql-types.ts'
import { statement } from '#shared/platform/db/statements/statement.ts'
import { isKindPaused } from '#shared/platform/jobs/pauses/store.ts'
import type { Cause } from '#shared/platform/kernel/cause.ts'
import { type Problem, problem } from '#shared/platform/kernel/errors.ts'

/** The most jobs of a kind that callers of a workspace have filed and that no worker has taken (docs/contract/jobs.md#waiting-jobs). */
export const maxFiledJobs = 1_000
/** Seconds after which a caller may try to file another job. */
const retryAfterSeconds = 5

/**
 * The failure of a caller that files one more; `what` names the work in the plural, `job` is the kind that does it. It passes, so no
 * Idempotency-Key keeps it.
 */
export async function tooManyFiled(db: Executor, what: string, job: string): Promise<Problem> {
  const pause = (await isKindPaused(db, job)) ? `, and the operator has paused the kind ${job}` : ''
  return problem('RATE_LIMITED', `${maxFiledJobs} ${what} wait in this workspace${pause}; file more when some of them have begun`, {
    headers: { 'Retry-After': String(retryAfterSeconds) },
  })
}

// The count reads at most `maxFiledJobs` entries of an index of the waiting operations alone, which takes 0.4 ms then. Callers at the same
// moment do not see each other, so a few more may be filed.
const insertFiledRow = statement(
  'jobs.insertFiledRow',
  `insert into operations (id, workspace_id, kind, job, principal_id, request_id, parent_id, cause, is_filed)
   select $id, $workspaceId, $kind, $job, $principalId, $requestId, $parentId, $cause::jsonb, true
   where (
     select count(*) from (
       select from operations
       where workspace_id = $workspaceId and kind = $kind and is_filed and status = 'queued' and finished_at is null limit ${maxFiledJobs}
     ) as waiting
   ) < ${maxFiledJobs}
   returning id`,
  {
    params: {
      id: uuid,
      workspaceId: uuid,
      kind: text,
      job: text,
      principalId: uuid.orNull,
      requestId: text,
      parentId: uuid.orNull,
      cause: jsonb,
    },
    columns: { id: uuid.notNull },
  },
)
/** Inserts the operation of a job that a caller's request files. Throws RATE_LIMITED while the workspace has too many of its kind waiting. */
export async function insertFiledOperation(
  db: Executor,
  id: string,
  workspaceId: string,
  kind: string,
  job: string,
  cause: Cause,
): Promise<void> {
  const { actorId: principalId, requestId, jobId: parentId } = cause
  const row = { id, workspaceId, kind, job, principalId, requestId, parentId, cause: JSON.stringify(cause) }
  const [inserted] = await db.query(insertFiledRow(row))
  if (inserted) return
  throw await tooManyFiled(db, `jobs of the kind ${kind}`, job)
}
