import type { Executor } from '#shared/platform/db/database.ts'
import { bigint, bytes, instant, integer, type RowOf, selectList, text, uuid } from '#shared/platform/db/statements/sql-types.ts'
import { statement } from '#shared/platform/db/statements/statement.ts'
import { defineSealed } from '#shared/platform/secrets/sealed-store.ts'

/** The request that an Idempotency-Key identifies (docs/contract/conventions.md#idempotency). */
export interface IdempotencyKey {
  readonly principalId: string
  /** Method and path, without the query. */
  readonly path: string
  readonly key: string
  /** Digests of the body, or of the file that it carries: the one that is stored, and the one that a key under rotation made. */
  readonly bodyHashes: readonly [Buffer, ...Buffer[]]
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
  return (await tx.query(claimRecord({ ...request, bodyHash: request.bodyHashes[0], failedId }))).length > 0
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

const recentColumns = { body_hash: bytes, ...columns }
const findRecentRecord = statement(
  'jobs.findRecentRecord',
  `select ${selectList(recentColumns)} from idempotency_records
   where principal_id = $principalId and path = $path and key = $key and created_at >= now() - interval '24 hours'`,
  { params: requestParams, columns: recentColumns },
)
/**
 * Finds a request's record of the last 24 hours, and whether it was made for the same body; undefined when there is none. A record whose
 * digest was forgotten counts as made for the same.
 */
export async function findIdempotencyRecord(
  db: Executor,
  request: IdempotencyKey,
): Promise<(IdempotencyRecord & { readonly sameBody: boolean }) | undefined> {
  const [row] = await db.query(findRecentRecord(request))
  if (!row) return undefined
  const { answer, operation_id, body_hash } = row
  return { answer, operation_id, sameBody: body_hash === null || request.bodyHashes.some((hash) => hash.equals(body_hash)) }
}

/** The stored answers. */
export const keptAnswers = defineSealed({
  table: 'idempotency_records',
  column: 'answer',
  key: { principal_id: 'uuid', path: 'text', key: 'text' },
  purpose: 'kept answers',
  place: ['principal_id', 'path', 'key'],
})

const batch = 1_000
const forgetSomeDigests = statement(
  'jobs.forgetSomeDigests',
  `update idempotency_records set body_hash = null
   where ctid = any(array(
     select ctid from idempotency_records where created_at < $before and body_hash is not null order by created_at limit $batch for update
   ))
   returning 1 as forgotten`,
  { params: { before: instant, batch: bigint }, columns: { forgotten: integer.notNull } },
)
/**
 * Forgets the digests of requests before an instant, whose key is retired: a repeat of such a request gets its first answer, whatever its
 * body.
 */
export async function forgetBodyDigests(db: Executor, before: string): Promise<void> {
  while ((await db.query(forgetSomeDigests({ before, batch }))).length === batch);
}
