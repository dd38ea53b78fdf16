import type { Executor } from '#shared/platform/db/database.ts'
import { sql } from '#shared/platform/db/statements/statement.ts'

/** The request that an Idempotency-Key identifies (decisions, Idempotency). */
export interface IdempotencyKey {
  readonly principalId: string
  /** Method and path, without the query. */
  readonly path: string
  readonly key: string
  /** A digest of the body, or of the file that it carries. */
  readonly bodyHash: Buffer
}

/** The stored first answer: the encrypted response, or the operation that a worker completes. Both are null until it is saved. */
export interface IdempotencyRecord {
  readonly answer: Buffer | null
  readonly operation_id: string | null
}

const claim = sql(
  'claim_answer',
  `insert into kept_answers as kept (principal_id, path, key, body_hash) values ($1, $2, $3, $4)
   on conflict (principal_id, path, key) do update set body_hash = excluded.body_hash, answer = null, operation_id = null, created_at = now()
   where kept.created_at < now() - interval '24 hours' or kept.operation_id = $5
   returning key`,
)
/**
 * Claims a request, in the caller's transaction where there is one. Returns false when it has a record of the last 24 hours, unless that is
 * the one of the failed operation `failedId`. Waits while another transaction has claimed the same request: false if that one commits.
 */
export async function claimIdempotencyRecord(
  tx: Executor,
  { principalId, path, key, bodyHash }: IdempotencyKey,
  failedId: string | null,
): Promise<boolean> {
  return (await tx.query(claim(principalId, path, key, bodyHash, failedId))).length > 0
}

const keep = sql('keep_answer', 'update kept_answers set answer = $4, operation_id = $5 where principal_id = $1 and path = $2 and key = $3')
/** Saves the answer to a claimed request; it commits with the request's effect. */
export async function saveIdempotencyRecord(
  tx: Executor,
  { principalId, path, key }: IdempotencyKey,
  record: IdempotencyRecord,
): Promise<void> {
  await tx.query(keep(principalId, path, key, record.answer, record.operation_id))
}

const keepFirst = sql(
  'keep_first_answer',
  `update kept_answers set answer = $4, operation_id = $5
   where principal_id = $1 and path = $2 and key = $3 and answer is null and operation_id is null
   returning key`,
)
/** Saves the answer to a claimed request unless a concurrent one has saved its own; returns whether it was saved. */
export async function saveFirstIdempotencyRecord(
  db: Executor,
  { principalId, path, key }: IdempotencyKey,
  record: IdempotencyRecord,
): Promise<boolean> {
  return (await db.query(keepFirst(principalId, path, key, record.answer, record.operation_id))).length > 0
}

const find = sql(
  'find_answer',
  `select body_hash, answer, operation_id from kept_answers
   where principal_id = $1 and path = $2 and key = $3 and created_at >= now() - interval '24 hours'`,
)
/** Finds a request's record of the last 24 hours, and whether it was made for the same body; undefined when there is none. */
export async function findIdempotencyRecord(
  db: Executor,
  request: IdempotencyKey,
): Promise<(IdempotencyRecord & { readonly sameBody: boolean }) | undefined> {
  const { principalId, path, key, bodyHash } = request
  const [row] = await db.query<IdempotencyRecord & { body_hash: Buffer }>(find(principalId, path, key))
  return row && { answer: row.answer, operation_id: row.operation_id, sameBody: row.body_hash.equals(bodyHash) }
}
