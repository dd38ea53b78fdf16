import type { Executor } from '#shared/platform/db/database.ts'
import { bytes, type RowOf, selectList, text, uuid } from '#shared/platform/db/statements/sql-types.ts'
import { statement } from '#shared/platform/db/statements/statement.ts'

/** The request that an Idempotency-Key identifies (decisions, Idempotency). */
export interface IdempotencyKey {
  readonly principalId: string
  /** Method and path, without the query. */
  readonly path: string
  readonly key: string
  /** A digest of the body, or of the file that it carries. */
  readonly bodyHash: Buffer
}

const columns = { answer: bytes, operation_id: uuid }

/** The stored first answer: the encrypted response, or the operation that a worker completes. Both are null until it is saved. */
export type IdempotencyRecord = RowOf<typeof columns>

const requestParams = { principalId: uuid, path: text, key: text }
const answerParams = { ...requestParams, answer: bytes.orNull, operationId: uuid.orNull }

const claimRecord = statement(
  'jobs.claimRecord',
  `insert into idempotency_records as kept (principal_id, path, key, body_hash) values ($principalId, $path, $key, $bodyHash)
   on conflict (principal_id, path, key) do update set body_hash = excluded.body_hash, answer = null, operation_id = null, created_at = now()
   where kept.created_at < now() - interval '24 hours' or kept.operation_id = $failedId
   returning key`,
  { params: { ...requestParams, bodyHash: bytes, failedId: uuid.orNull }, columns: { key: text.notNull } },
)
/**
 * Claims a request, in the caller's transaction where there is one. Returns false when it has a record of the last 24 hours, unless that is
 * the one of the failed operation `failedId`. Waits while another transaction has claimed the same request: false if that one commits.
 */
export async function claimIdempotencyRecord(tx: Executor, request: IdempotencyKey, failedId: string | null): Promise<boolean> {
  return (await tx.query(claimRecord({ ...request, failedId }))).length > 0
}

const updateRecord = statement(
  'jobs.updateRecord',
  `update idempotency_records set answer = $answer, operation_id = $operationId
   where principal_id = $principalId and path = $path and key = $key`,
  { params: answerParams },
)
/** Saves the answer to a claimed request; it commits with the request's effect. */
export async function saveIdempotencyRecord(
  tx: Executor,
  request: IdempotencyKey,
  { answer, operation_id: operationId }: IdempotencyRecord,
): Promise<void> {
  await tx.query(updateRecord({ ...request, answer, operationId }))
}

const updateEmptyRecord = statement(
  'jobs.updateEmptyRecord',
  `update idempotency_records set answer = $answer, operation_id = $operationId
   where principal_id = $principalId and path = $path and key = $key and answer is null and operation_id is null
   returning key`,
  { params: answerParams, columns: { key: text.notNull } },
)
/** Saves the answer to a claimed request unless a concurrent one has saved its own; returns whether it was saved. */
export async function saveFirstIdempotencyRecord(
  db: Executor,
  request: IdempotencyKey,
  { answer, operation_id: operationId }: IdempotencyRecord,
): Promise<boolean> {
  return (await db.query(updateEmptyRecord({ ...request, answer, operationId }))).length > 0
}

const recentColumns = { body_hash: bytes.notNull, ...columns }
const findRecentRecord = statement(
  'jobs.findRecentRecord',
  `select ${selectList(recentColumns)} from idempotency_records
   where principal_id = $principalId and path = $path and key = $key and created_at >= now() - interval '24 hours'`,
  { params: requestParams, columns: recentColumns },
)
/** Finds a request's record of the last 24 hours, and whether it was made for the same body; undefined when there is none. */
export async function findIdempotencyRecord(
  db: Executor,
  request: IdempotencyKey,
): Promise<(IdempotencyRecord & { readonly sameBody: boolean }) | undefined> {
  const [row] = await db.query(findRecentRecord(request))
  return row && { answer: row.answer, operation_id: row.operation_id, sameBody: row.body_hash.equals(request.bodyHash) }
}
