import type { Executor } from '#shared/platform/db/database.ts'
import { type Statement, sql } from '#shared/platform/db/statements/statement.ts'
import type { Continuation } from '#shared/platform/jobs/operations/continuation.ts'
import type { Cause } from '#shared/platform/kernel/cause.ts'
import type { StoredProblem } from '#shared/platform/kernel/errors.ts'

type OperationStatus = 'queued' | 'running' | 'done' | 'failed'

/** Work of a worker that callers can wait for (decisions, Long work). Its completion commits with the writes of the work. */
export interface Operation {
  readonly id: string
  readonly workspace_id: string | null
  readonly kind: string
  readonly principal_id: string | null
  readonly status: OperationStatus
  readonly progress: { readonly done: number; readonly total: number } | null
  readonly result: unknown
  /** The id of the file that the work created, such as a CSV. */
  readonly file_id: string | null
  readonly error: StoredProblem | null
  readonly created_at: string
  readonly started_at: string | null
  readonly finished_at: string | null
}

const columns = 'id, workspace_id, kind, principal_id, status, progress, result, file_id, error, created_at, started_at, finished_at'

const insert = sql(
  'insert_operation',
  `insert into operations (id, workspace_id, kind, job, principal_id, request_id, continuation) values ($1, $2, $3, $4, $5, $6, $7::jsonb)`,
)
/** The statement that inserts a queued operation, with the continuation that is enqueued when it completes. */
export const insertOperation = (
  id: string,
  workspaceId: string | null,
  kind: string,
  job: string,
  cause: Cause,
  next?: Continuation,
): Statement => insert(id, workspaceId, kind, job, cause.actorId, cause.requestId, next ? JSON.stringify(next) : null)

const insertAll = sql(
  'insert_operations',
  `insert into operations (id, workspace_id, kind, job, principal_id, request_id)
   select id, workspace_id, $2, $3, principal_id, request_id
   from json_to_recordset($1::text::json) as row (id uuid, workspace_id uuid, principal_id uuid, request_id text)`,
)
/** The statement that inserts many operations of one job. */
export function insertOperations(
  kind: string,
  job: string,
  operations: readonly { readonly id: string; readonly workspaceId: string | null; readonly cause: Cause }[],
): Statement {
  const rows = operations.map(({ id, workspaceId, cause }) => ({
    ...{ id, workspace_id: workspaceId, principal_id: cause.actorId, request_id: cause.requestId },
  }))
  return insertAll(JSON.stringify(rows), kind, job)
}

const find = sql('find_operation', `select ${columns} from operations where id = $1`)
/** Finds an operation by id; undefined when there is none. */
export async function findOperation(db: Executor, id: string): Promise<Operation | undefined> {
  return (await db.query<Operation>(find(id)))[0]
}

const findIn = sql('find_operation_of_workspace', `select ${columns} from operations where workspace_id = $1 and id = $2`)
/** Finds an operation of this workspace; undefined when there is none. For ids that callers send. */
export async function findWorkspaceOperation(db: Executor, workspaceId: string, id: string): Promise<Operation | undefined> {
  return (await db.query<Operation>(findIn(workspaceId, id)))[0]
}

// The commit does not wait for the disk: a crash that loses it also loses all later writes of the work.
const start = sql(
  'start_operation',
  `with hasty as materialized (select set_config('synchronous_commit', 'off', true))
   update operations set status = 'running', started_at = coalesce(started_at, now()) from hasty
   where id = $1 and status in ('queued', 'running') returning checkpoint, old.started_at is not null as begun`,
)

/** The progress of earlier attempts. */
interface EarlierAttempts {
  /** Their last checkpoint, or null. */
  readonly checkpoint: unknown
  /** Whether an earlier attempt began: it may have done anything except complete. */
  readonly begun: boolean
}

/** Marks an operation as running. Returns undefined when it is already done or failed. */
export async function startOperation(db: Executor, id: string): Promise<EarlierAttempts | undefined> {
  return (await db.query<EarlierAttempts>(start(id)))[0]
}

const unstart = sql('unstart_operation', `update operations set status = 'queued', started_at = null where id = $1 and status = 'running'`)
/** Reverts `startOperation` for an attempt that failed with OVERLOADED before its work began. */
export async function revertOperationStart(db: Executor, id: string): Promise<void> {
  await db.query(unstart(id))
}

const advance = sql(
  'advance_operation',
  `update operations set progress = $2::json, checkpoint = coalesce($3::json, checkpoint)
   where id = $1 and status = 'running' and checkpoint::text is not distinct from $4 returning id`,
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
  return (await db.query(advance(id, JSON.stringify(progress), jsonText(checkpoint), jsonText(known)))).length > 0
}

const park = sql(
  'park_operation',
  `update operations set awaits = $2, checkpoint = $3::json
   where id = $1 and status = 'running' and checkpoint::text is not distinct from $4 returning id`,
)
/**
 * Parks an operation until `awaits` other operations complete; each of these is enqueued in the same transaction with a resumption
 * (`createResumption`). Returns false when another attempt has taken over, as `advanceOperation` does.
 */
export async function parkOperation(db: Executor, id: string, awaits: number, known: unknown, checkpoint: unknown): Promise<boolean> {
  return (await db.query(park(id, awaits, jsonText(checkpoint), jsonText(known)))).length > 0
}

const jsonText = (value: unknown): string | null => (value === undefined ? null : JSON.stringify(value))

const complete = sql(
  'settle_operation',
  `update operations set status = $2, result = $3::json, error = $4::json, file_id = $5, awaits = null, finished_at = now(),
     checkpoint = case when $2 = 'failed' then checkpoint end
   where id = $1 and status in ('queued', 'running') returning continuation ->> 'queue' as continues`,
)

type OperationOutcome =
  | { readonly status: 'done'; readonly result: unknown; readonly fileId?: string | undefined }
  | { readonly status: 'failed'; readonly error: StoredProblem }

/**
 * Completes an operation unless it is complete. Returns the queue of its continuation, null for none; undefined when it was complete
 * before: then the caller must roll its transaction back.
 */
export async function completeOperation(
  db: Executor,
  id: string,
  outcome: OperationOutcome,
): Promise<{ continues: string | null } | undefined> {
  const done = outcome.status === 'done'
  const [row] = await db.query<{ continues: string | null }>(
    complete(
      id,
      outcome.status,
      done ? JSON.stringify(outcome.result ?? null) : null,
      done ? null : JSON.stringify(outcome.error),
      done ? (outcome.fileId ?? null) : null,
    ),
  )
  return row
}

const drop = sql(
  'drop_operation',
  `update operations set status = 'failed', error = $2::json, finished_at = now() where id = $1 and status = 'queued'`,
)
/** Fails a queued operation that has no waiting caller any more; its job does not run. */
export async function cancelQueuedOperation(db: Executor, id: string): Promise<void> {
  const abandoned: StoredProblem = { code: 'INTERNAL', message: 'Nobody waited for it any more' }
  await db.query(drop(id, JSON.stringify(abandoned)))
}

const reopen = sql(
  'reopen_operation',
  `update operations set status = 'queued', job_id = $2, error = null, started_at = null, finished_at = null
   where id = $1 and status = 'failed' returning id`,
)
/** Requeues a failed operation for this job, from its last checkpoint. Returns false when it has not failed, or was reopened already. */
export async function reopenOperation(db: Executor, id: string, jobId: string): Promise<boolean> {
  return (await db.query(reopen(id, jobId))).length > 0
}
