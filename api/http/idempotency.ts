import { createHash, createHmac } from 'node:crypto'
import type { Context } from 'koa'
import type { ApiServices } from '#api/http/services.ts'
import type { PlatformScope } from '#shared/core/scope/scope.ts'
import type { Executor } from '#shared/platform/db/database.ts'
import { withSavepoint } from '#shared/platform/db/savepoint.ts'
import {
  claimIdempotencyRecord,
  findIdempotencyRecord,
  type IdempotencyKey,
  type IdempotencyRecord,
  keptAnswers,
  saveFirstIdempotencyRecord,
  saveIdempotencyRecord,
} from '#shared/platform/jobs/idempotency-records.ts'
import { findOperation } from '#shared/platform/jobs/operations/operations.ts'
import { openingKeys } from '#shared/platform/kernel/crypto/secret-keys.ts'
import { Problem, problem, type StoredProblem } from '#shared/platform/kernel/errors.ts'
import { isCleanText, parseStoredJson } from '#shared/platform/kernel/values/json.ts'

/** The longest Idempotency-Key (docs/contract/conventions.md#idempotency). */
const maxKeyLength = 255

/** Characters of method and path that are stored as they are; a longer text is stored as its digest. */
const maxPathLength = 500

/** The answer to a request: new, or the first answer for a repeated key. */
export type IdempotentResult =
  | { readonly status: number; readonly data: unknown }
  | { readonly failure: StoredProblem }
  | { readonly operationId: string }

/** Requests in progress in this process. Repeats wait here and take no further database connection. */
const inProgress = new Map<string, Promise<unknown>>()

/**
 * The Idempotency-Key of a signed-in caller's POST; undefined when there is none, and below `/v1/auth`, where it is ignored. Throws
 * VALIDATION_ERROR when it is empty or too long.
 */
export function callerIdempotencyKey(ctx: Context, { principal }: PlatformScope): string | undefined {
  const isHeeded = ctx.method === 'POST' && principal !== null && !ctx.path.startsWith('/v1/auth/')
  return isHeeded ? readIdempotencyKey(ctx) : undefined
}

/** The Idempotency-Key that a request carries, a visitor's too. Throws VALIDATION_ERROR when it is empty or too long. */
export function readIdempotencyKey(ctx: Context): string | undefined {
  const key = ctx.req.headers['idempotency-key']
  if (key === undefined) return undefined
  if (typeof key !== 'string' || !isIdempotencyKey(key))
    throw problem('VALIDATION_ERROR', `Idempotency-Key must have 1 to ${maxKeyLength} characters`)
  return key
}

/** Whether a text may be an Idempotency-Key, or the id in a hosted page, which serves as one. */
export const isIdempotencyKey = (text: string): boolean => text.length >= 1 && text.length <= maxKeyLength && isCleanText(text)

/** What identifies a request with a key: caller, method and path, key, and digests of the body. */
export const requestKeyOf = (ctx: Context, { principal }: PlatformScope, key: string, bodyHashes: BodyHashes): IdempotencyKey => ({
  principalId: principal?.id ?? '',
  path: shortened(`${ctx.method} ${ctx.path}`),
  key,
  bodyHashes,
})

/** Shortens a path, since an index entry has a maximum size. */
const shortened = (path: string): string => (path.length <= maxPathLength ? path : createHash('sha256').update(path).digest('hex'))

/** The digest of a body, and while the key is rotated the one under the other key. */
export type BodyHashes = IdempotencyKey['bodyHashes']

/** Keyed digests of a body. A plain digest of a body with a password would allow guessing the password. */
export const hashBody = ({ config }: Pick<ApiServices, 'config'>, bytes: Uint8Array): BodyHashes => {
  const [own, ...others] = openingKeys(config)
  const digest = (key: Buffer) => createHmac('sha256', key).update(bytes).digest()
  return [digest(own), ...others.map(digest)]
}

/**
 * Runs a request's work once, in one transaction with saving its answer. Requests with the same key, concurrent or within 24 hours, get
 * that answer. When the first attempt dies, its transaction rolls back and the next request does the work. Caller errors are saved as
 * answers; status 5xx and RATE_LIMITED are not. Throws VALIDATION_ERROR for the same key with another body. `repeatable` work runs outside
 * the transaction of its answer and runs again when the answer was not saved.
 */
export async function runOnce(
  services: IdempotencyServices,
  request: IdempotencyKey,
  work: Work,
  { repeatable = false } = {},
): Promise<IdempotentResult> {
  const name = `${request.principalId} ${request.path} ${request.key}`
  for (let other = inProgress.get(name); other; other = inProgress.get(name)) await other.catch(() => undefined)
  const answering = answerOnce(services, request, repeatable ? workAndAnswer(work) : claimAndAnswer(work))
  inProgress.set(name, answering)
  try {
    return await answering
  } finally {
    inProgress.delete(name)
  }
}

/** Services to store answers. `database` is that of the caller's scope, so that its workspace's connections are used. */
export interface IdempotencyServices {
  readonly config: ApiServices['config']
  readonly database: Executor
}

/** Does a request's work. `failedId` is the operation of an earlier attempt that failed with 5xx, or null. */
type Work = (db: Executor, failedId: string | null) => Promise<IdempotentResult>
type Strategy = (services: IdempotencyServices, request: IdempotencyKey, failedId: string | null) => Promise<IdempotentResult>

async function answerOnce(services: IdempotencyServices, request: IdempotencyKey, strategy: Strategy): Promise<IdempotentResult> {
  const known = await findResult(services.database, services, request)
  const failedId = known === undefined ? null : await findFailedOperation(services, known)
  if (known && failedId === null) return known
  return strategy(services, request, failedId)
}

/**
 * Claims the request, does its work and saves the answer in one transaction. A failure rolls back only the work, to a savepoint, so that
 * the transaction can save the failure as the answer.
 */
const claimAndAnswer =
  (work: Work): Strategy =>
  async (services, request, failedId) => {
    let failed: Problem | undefined
    const outcome = await services.database.transaction(async (tx) => {
      failed = undefined
      if (!(await claimIdempotencyRecord(tx, request, failedId)))
        return (await findResult(tx, services, request)) ?? Promise.reject(problem('INTERNAL'))
      const outcome = await withSavepoint(tx, () => work(tx, failedId)).catch((error: unknown) => {
        if (!isAnswer(error)) throw error
        failed = error
        return { failure: error.toJSON() }
      })
      await saveIdempotencyRecord(tx, request, recordOf(services, request, outcome))
      return outcome
    })
    if (failed) throw failed
    return outcome
  }

/** Claims the request, does its work and saves the answer, without a common transaction. The first of concurrent answers is saved. */
const workAndAnswer =
  (work: Work): Strategy =>
  async (services, request, failedId) => {
    const { database } = services
    const known = (await claimIdempotencyRecord(database, request, failedId)) ? undefined : await findResult(database, services, request)
    if (known) return known
    const outcome = await work(database, failedId).catch((error: unknown) => {
      if (!isAnswer(error)) throw error
      return { failure: error.toJSON() }
    })
    if (await saveFirstIdempotencyRecord(database, request, recordOf(services, request, outcome))) return outcome
    return (await findResult(database, services, request)) ?? outcome
  }

/** Whether a failure is saved as the answer: an error of the caller, except one that passes with time. */
const isAnswer = (error: unknown): error is Problem => error instanceof Problem && error.status < 500 && error.code !== 'RATE_LIMITED'

/**
 * The operation of an attempt that failed with 5xx, else null. A repeated request retries it (docs/contract/conventions.md#idempotency).
 */
async function findFailedOperation({ database }: IdempotencyServices, outcome: IdempotentResult): Promise<string | null> {
  const operation = 'operationId' in outcome ? await findOperation(database, outcome.operationId) : undefined
  return operation?.status === 'failed' && new Problem(operation.error?.code ?? 'INTERNAL').status >= 500 ? operation.id : null
}

async function findResult(db: Executor, services: IdempotencyServices, request: IdempotencyKey): Promise<IdempotentResult | undefined> {
  const found = await findIdempotencyRecord(db, request)
  if (!found) return undefined
  if (!found.sameBody) throw problem('VALIDATION_ERROR', 'Idempotency-Key was used on this path with another body')
  if (found.operation_id !== null) return { operationId: found.operation_id }
  if (found.answer === null) return undefined
  return parseStoredJson(keptAnswers.open(services.config, placeOf(request), found.answer)) as IdempotentResult
}

function recordOf(services: IdempotencyServices, request: IdempotencyKey, outcome: IdempotentResult): IdempotencyRecord {
  if ('operationId' in outcome) return { answer: null, operation_id: outcome.operationId }
  return { answer: keptAnswers.seal(services.config, placeOf(request), JSON.stringify(outcome)), operation_id: null }
}

const placeOf = ({ principalId, path, key }: IdempotencyKey) => ({ principal_id: principalId, path, key })
