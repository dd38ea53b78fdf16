import type { Executor } from '#shared/platform/db/database.ts'
import { boolean, instant, integer, json, jsonb, type RowOf, selectList, text, uuid } from '#shared/platform/db/statements/sql-types.ts'
import { type Statement, statement } from '#shared/platform/db/statements/statement.ts'
import { endLastAttempt, startAttempt } from '#shared/platform/jobs/operations/attempts.ts'
import type { Continuation } from '#shared/platform/jobs/operations/continuation.ts'
import type { Cause } from '#shared/platform/kernel/cause.ts'
import type { StoredProblem } from '#shared/platform/kernel/errors.ts'

type OperationStatus = 'queued' | 'running' | 'done' | 'failed'

const columns = {
  id: uuid.notNull,
  workspace_id: uuid,
  kind: text.notNull,
  principal_id: uuid,
  status: text.as<OperationStatus>().notNull,
  progress: json.as<{ readonly done: number; readonly total: number }>(),
  result: json,
  /** The id of the file that the work created, such as a CSV. */
  file_id: uuid,
  error: json.as<StoredProblem>(),
  /** The part that its job waits for. */
  awaits_part: text,
  /** Whether an attempt must begin before anything more happens: none has begun, or the last one ended and another follows. */
  awaits_attempt: boolean.notNull,
  created_at: instant.notNull,
  started_at: instant,
  finished_at: instant,
}

const awaitsAttempt = `(finished_at is null and awaits is null and (status = 'queued' or coalesce(attempts -> -1 ? 'ended_at', false)))`
const operationList = selectList(columns, undefined, { awaits_attempt: awaitsAttempt })

/** Work of a worker that callers can wait for (docs/contract/jobs.md#long-work). Its completion commits with the writes of the work. */
export type Operation = RowOf<typeof columns>

const changed = { id: uuid.notNull }

const insertOperationRow = statement(
  'jobs.insertOperationRow',
  `insert into operations (id, workspace_id, kind, job, principal_id, request_id, parent_id, cause, continuation)
   values ($id, $workspaceId, $kind, $job, $principalId, $requestId, $parentId, $cause::jsonb, $continuation::jsonb)`,
  {
    params: {
      id: uuid,
      workspaceId: uuid.orNull,
      kind: text,
      job: text,
      principalId: uuid.orNull,
      requestId: text,
      parentId: uuid.orNull,
      cause: jsonb,
      continuation: jsonb.orNull,
    },
  },
)
/** The statement that inserts a queued operation, with the continuation that is enqueued when it completes. */
export const insertOperation = (
  id: string,
  workspaceId: string | null,
  kind: string,
  job: string,
  cause: Cause,
  next?: Continuation,
): Statement => {
  const { actorId: principalId, requestId, jobId: parentId } = cause
  const continuation = next && JSON.stringify(next)
  return insertOperationRow({ id, workspaceId, kind, job, principalId, requestId, parentId, cause: JSON.stringify(cause), continuation })
}

const insertOperationRows = statement(
  'jobs.insertOperationRows',
  `insert into operations (id, workspace_id, kind, job, principal_id, request_id, parent_id, cause)
   select id, workspace_id, $kind, $job, principal_id, request_id, parent_id, cause
   from json_to_recordset($rows::text::json)
     as row (id uuid, workspace_id uuid, principal_id uuid, request_id text, parent_id uuid, cause jsonb)`,
  { params: { kind: text, job: text, rows: text } },
)
/** The statement that inserts many operations of one job. */
export function insertOperations(
  kind: string,
  job: string,
  operations: readonly { readonly id: string; readonly workspaceId: string | null; readonly cause: Cause }[],
): Statement {
  const rows = operations.map(({ id, workspaceId, cause }) => ({
    id,
    workspace_id: workspaceId,
    principal_id: cause.actorId,
    request_id: cause.requestId,
    parent_id: cause.jobId ?? null,
    cause,
  }))
  return insertOperationRows({ kind, job, rows: JSON.stringify(rows) })
}

const selectOperation = statement('jobs.selectOperation', `select ${operationList} from operations where id = $id`, {
  params: { id: uuid },
  columns,
})
/** Finds an operation by id; undefined when there is none. */
export async function findOperation(db: Executor, id: string): Promise<Operation | undefined> {
  return (await db.query(selectOperation({ id })))[0]
}

const selectWorkspaceOperation = statement(
  'jobs.selectWorkspaceOperation',
  `select ${operationList} from operations where workspace_id = $workspaceId and id = $id`,
  { params: { workspaceId: uuid, id: uuid }, columns },
)
/** Finds an operation of this workspace; undefined when there is none. For ids that callers send. */
export async function findWorkspaceOperation(db: Executor, workspaceId: string, id: string): Promise<Operation | undefined> {
  return (await db.query(selectWorkspaceOperation({ workspaceId, id })))[0]
}

// The commit does not wait for the disk: a crash that loses it also loses all later writes of the work.
const earlierAttempts = {
  /** Their last checkpoint, or null. */
  checkpoint: json,
  /** Whether an earlier attempt began: it may have done anything except complete. */
  begun: boolean.notNull,
}

/** The progress of earlier attempts. */
type EarlierAttempts = RowOf<typeof earlierAttempts>

const setRunning = statement(
  'jobs.setRunning',
  `with hasty as materialized (select set_config('synchronous_commit', 'off', true))
   update operations
   set status = 'running', awaits_part = null, started_at = coalesce(started_at, now()), attempts = ${startAttempt('$worker')} from hasty
   where id = $id and status in ('queued', 'running') returning checkpoint, old.started_at is not null as begun`,
  { params: { id: uuid, worker: text }, columns: earlierAttempts },
)

/** Marks an operation as running in a new attempt of `worker`. Returns undefined when it is already done or failed. */
export async function startOperation(db: Executor, id: string, worker: string): Promise<EarlierAttempts | undefined> {
  return (await db.query(setRunning({ id, worker })))[0]
}

const setQueued = statement(
  'jobs.setQueued',
  `update operations set status = 'queued', started_at = null, attempts = ${endLastAttempt('now()', '$error')}
   where id = $id and status = 'running'`,
  { params: { id: uuid, error: text } },
)
/** Reverts `startOperation` for an attempt that failed with OVERLOADED before its work began. */
export async function revertOperationStart(db: Executor, id: string, error: string): Promise<void> {
  await db.query(setQueued({ id, error }))
}

const updateProgress = statement(
  'jobs.updateProgress',
  `update operations set progress = $progress::json, checkpoint = coalesce($checkpoint::json, checkpoint)
   where id = $id and status = 'running' and checkpoint::text is not distinct from $known returning id`,
  { params: { id: uuid, progress: json, checkpoint: json.orNull, known: text.orNull }, columns: changed },
)
/**
 * Records progress, and a checkpoint from which another attempt can continue. Returns false when another attempt has taken over: the
 * operation is not running, or its checkpoint is not `known`, the last one of this attempt.
 */
export async function advanceOperation(
  db: Executor,
  id: string,
  progress: { done: number; total: number },
  known: unknown,
  checkpoint?: unknown,
): Promise<boolean> {
  const values = { id, progress: JSON.stringify(progress), checkpoint: jsonText(checkpoint), known: jsonText(known) }
  return (await db.query(updateProgress(values))).length > 0
}

const setParked = statement(
  'jobs.setParked',
  `update operations set awaits = $awaits, checkpoint = $checkpoint::json, attempts = ${endLastAttempt('clock_timestamp()', 'null')}
   where id = $id and status = 'running' and checkpoint::text is not distinct from $known returning id`,
  { params: { id: uuid, awaits: integer, checkpoint: json.orNull, known: text.orNull }, columns: changed },
)
/**
 * Parks an operation until `awaits` other operations complete; each of these is enqueued in the same transaction with a resumption
 * (`createResumption`). Returns false when another attempt has taken over, as `advanceOperation` does.
 */
export async function parkOperation(db: Executor, id: string, awaits: number, known: unknown, checkpoint: unknown): Promise<boolean> {
  return (await db.query(setParked({ id, awaits, checkpoint: jsonText(checkpoint), known: jsonText(known) }))).length > 0
}

const jsonText = (value: unknown): string | null => (value === undefined ? null : JSON.stringify(value))

// The transaction may have begun long ago, so its time (`now()`) is not the end. What committed with the completion is progress too.
const setCompleted = statement(
  'jobs.setCompleted',
  `update operations
   set status = $status, result = $result::json, error = $error::json, file_id = $fileId, awaits = null, finished_at = clock_timestamp(),
     progress = case when $status = 'done' and progress is not null
       then json_build_object('done', progress -> 'total', 'total', progress -> 'total') else progress end,
     checkpoint = case when $status = 'failed' then checkpoint end,
     attempts = case when $attemptError::text is null then attempts else ${endLastAttempt('clock_timestamp()', '$attemptError')} end
   where id = $id and status in ('queued', 'running') returning continuation ->> 'queue' as continues`,
  {
    params: { id: uuid, status: text, result: json.orNull, error: json.orNull, fileId: uuid.orNull, attemptError: text.orNull },
    columns: { continues: text },
  },
)

type OperationOutcome =
  | { readonly status: 'done'; readonly result: unknown; readonly fileId?: string | undefined }
  /** `attemptError` is what the last attempt met, for operators: callers are told `error`. */
  | { readonly status: 'failed'; readonly error: StoredProblem; readonly attemptError: string }

/**
 * Completes an operation unless it is complete. Returns the queue of its continuation, null for none; undefined when it was complete
 * before: then the caller must roll its transaction back.
 */
export async function completeOperation(
  db: Executor,
  id: string,
  outcome: OperationOutcome,
): Promise<{ continues: string | null } | undefined> {
  const { status } = outcome
  const written =
    status === 'done'
      ? { result: JSON.stringify(outcome.result ?? null), error: null, fileId: outcome.fileId, attemptError: null }
      : { result: null, error: JSON.stringify(outcome.error), fileId: null, attemptError: outcome.attemptError }
  const [row] = await db.query(setCompleted({ id, status, ...written }))
  return row
}

const setCancelled = statement(
  'jobs.setCancelled',
  `update operations set status = 'failed', error = $error::json, finished_at = now()
   where id = $id and ${awaitsAttempt} returning id`,
  { params: { id: uuid, error: json }, columns: changed },
)
/**
 * Fails an operation that awaits an attempt and has no waiting caller any more; its job does not run again. Returns false when an attempt is
 * running, or it has ended.
 */
export async function cancelWaitingOperation(db: Executor, id: string): Promise<boolean> {
  const abandoned: StoredProblem = { code: 'INTERNAL', message: 'No caller waited for the work any more' }
  return (await db.query(setCancelled({ id, error: JSON.stringify(abandoned) }))).length > 0
}

const setReopened = statement(
  'jobs.setReopened',
  `update operations
   set status = 'queued', job_id = $jobId, error = null, started_at = null, finished_at = null, failure_answered_at = null,
     is_cancelled = false, attempts = ${endLastAttempt('finished_at', "error ->> 'message'")}
   where id = $id and status = 'failed' returning id`,
  { params: { id: uuid, jobId: uuid }, columns: changed },
)
/** Requeues a failed operation for this job, from its last checkpoint. Returns false when it has not failed, or was reopened already. */
export async function reopenOperation(db: Executor, id: string, jobId: string): Promise<boolean> {
  return (await db.query(setReopened({ id, jobId }))).length > 0
}

const setFailureAnswered = statement(
  'jobs.setFailureAnswered',
  'update operations set failure_answered_at = now() where id = $id and failure_answered_at is null',
  { params: { id: uuid } },
)
/**
 * Records that a caller is told that the work failed. Its dead letter, if it has one or gets one later, is then retried only on purpose: the
 * caller may have repeated the call.
 */
export async function recordFailureAnswered(db: Executor, id: string): Promise<void> {
  await db.query(setFailureAnswered({ id }))
}
