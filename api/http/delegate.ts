import type { Context } from 'koa'
import type { Request } from '#api/http/declaration.ts'
import { hashBody, requestKeyOf, runOnce } from '#api/http/idempotency.ts'
import { jobFileReply } from '#api/http/reply/job-file.ts'
import { sendData, sendJson, sendReply } from '#api/http/reply/send.ts'
import { opening } from '#api/http/request/read-request.ts'
import { receiveUpload } from '#api/http/request/upload.ts'
import type { DelegateRoute } from '#api/http/route.ts'
import type { ApiServices } from '#api/http/services.ts'
import { type PlatformScope, type Scope, within } from '#shared/core/scope/scope.ts'
import type { Executor } from '#shared/platform/db/database.ts'
import { isDatabaseUnavailable } from '#shared/platform/db/database-errors.ts'
import { discardJobFile } from '#shared/platform/jobs/job-files.ts'
import {
  cancelWaitingOperation,
  findOperation,
  type Operation,
  recordFailureAnswered,
} from '#shared/platform/jobs/operations/operations.ts'
import { retryOperation } from '#shared/platform/jobs/operations/retry-operation.ts'
import { Problem, problem } from '#shared/platform/kernel/errors.ts'
import type { RunningCall } from '#shared/platform/kernel/process/running-calls.ts'

/** A request to a delegate route. */
interface DelegatedCall {
  readonly route: DelegateRoute
  readonly ctx: Context
  readonly request: Request<string, unknown, unknown>
  readonly scope: PlatformScope | Scope
  readonly services: ApiServices
  /** The Idempotency-Key; undefined without one. */
  readonly key: string | undefined
}

/** Enqueues a route's work, waits for a worker as long as `readPreferredWait` says, and answers with the result, the failure, or 202. */
export async function respondFromWorker(call: DelegatedCall): Promise<void> {
  const { route, ctx, request, scope, services } = call
  const ready = await route.ready?.(request, scope as Scope)
  if (ready) return sendReply(ctx, 200, ready)
  const id = await start(call)
  const workspaceId = 'workspace' in scope ? scope.workspace.id : null
  const canReadOperation = canPoll(call)
  const preferred = readPreferredWait(canReadOperation ? ctx.get('prefer') : '', services.config.answerWithinSeconds * 1_000)
  if (preferred.applied) ctx.set('Preference-Applied', preferred.applied)
  const waiting = performance.now()
  const operation =
    preferred.ms === 0
      ? undefined
      : await (ctx.state.call as RunningCall).waitUncounted(() => waitForOperation(call, id, preferred.ms, canReadOperation))
  // The log of slow requests subtracts the time spent waiting for a worker.
  ctx.state.waitedMs = performance.now() - waiting
  if (operation?.status === 'failed') {
    const failure = failureOf(route, operation)
    if (failure.status >= 500) await recordAnswer(call, id)
    throw failure
  }
  if (operation?.status === 'done') return sendResult(route, ctx, operation, { db: scope.db, blobs: services.blobs }, workspaceId)
  if (!canReadOperation) {
    // The caller gets its final answer now or has disconnected: a waiting job would only delay others.
    if (await cancelWaitingOperation(scope.db, id)) services.jobQueue.signals.signalFailure(id, null)
    await recordAnswer(call, id)
    if (operation?.awaits_part) throw problem('UNAVAILABLE', undefined, { expected: true })
    throw route.bare?.failure('late') ?? problem('INTERNAL', 'The work did not finish in time')
  }
  ctx.set('Location', `${services.config.publicUrl}/v1/orgs/${workspaceId}/jobs/${id}`)
  ctx.set('Preference-Applied', 'respond-async')
  // Without waiting, only a repeated request can find its work begun or ended.
  const found = operation ?? (call.key === undefined ? undefined : await findOperation(scope.db, id))
  await sendData(ctx, 202, { job_id: id, status: found?.status ?? 'queued' })
}

/** Whether the caller can ask for the job later. Visitors, and callers outside workspaces, have no address of it. */
const canPoll = ({ route, scope }: Pick<DelegatedCall, 'route' | 'scope'>): boolean => 'workspace' in scope && route.permission !== 'public'

/**
 * Waits for the operation. When its kind is paused before an attempt of it, a caller that can poll gets its state; for any other caller it is
 * cancelled, and OVERLOADED is thrown.
 */
async function waitForOperation(call: DelegatedCall, id: string, ms: number, canReadOperation: boolean): Promise<Operation | undefined> {
  const { route, ctx, scope, services } = call
  const { name: job } = route.job
  const deadline = performance.now() + ms
  const ends = { job, signal: disconnectSignal(ctx) }
  for (;;) {
    const operation = await services.waiter.wait(id, deadline - performance.now(), ends)
    if (canReadOperation || !operation?.awaits_attempt || !services.jobQueue.pauses.has(job)) return operation
    // False when an attempt has begun meanwhile: what runs ends.
    if (!(await cancelWaitingOperation(scope.db, id))) continue
    services.jobQueue.signals.signalFailure(id, null)
    await recordAnswer(call, id)
    throw pausedProblem()
  }
}

/** Seconds after which a visitor may try again. A pause ends when the operator says so; this spreads the calls until then. */
const pausedRetrySeconds = 30

const pausedProblem = () =>
  problem('OVERLOADED', 'The operator has paused this kind of work; try again later', {
    headers: { 'Retry-After': String(pausedRetrySeconds) },
    expected: true,
  })

/** Enqueues the work and returns the id of its operation; for a repeated Idempotency-Key, the id of the first operation. */
async function start(call: DelegatedCall): Promise<string> {
  const { route, ctx, request, scope, services, key } = call
  const workspaceId = 'workspace' in scope ? scope.workspace.id : null
  const { db } = scope
  const fileServices = { db, blobs: services.blobs }
  const file =
    route.upload && workspaceId !== null
      ? await receiveUpload({ ctx, open: opening(ctx, services) }, route.upload, workspaceId, fileServices)
      : undefined
  const discard = async () => {
    if (file && workspaceId !== null) await discardJobFile(db, workspaceId, file.id)
  }
  let enqueued: string | undefined
  const origin = { workspaceId, cause: scope.cause }
  // Visitors have limits of their own.
  const filing = { isFiled: scope.principal !== null && route.permission !== 'public' }
  const payload = (db: Executor) => route.payload(request, within(scope, db) as Scope, file?.id ?? '')
  const enqueue = async (tx: Executor, failedId: string | null) => {
    requireUnpaused(call)
    const order = await payload(tx)
    if (failedId === null) enqueued = await services.jobQueue.enqueue(tx, route.job, origin, order, filing)
    // False when a concurrent repeat of the request has already reopened the operation, with the file of that repeat.
    else if (await retryOperation(tx, services.jobQueue, route.job, failedId, origin, order)) enqueued = failedId
    return { operationId: enqueued ?? failedId ?? '' }
  }
  try {
    if (key === undefined) {
      requireUnpaused(call)
      return await services.jobQueue.enqueue(db, route.job, origin, await payload(db), filing)
    }
    const bodyHashes = hashBody(services, bodyOf(request, file?.body))
    const outcome = await runOnce({ config: services.config, database: db }, requestKeyOf(ctx, scope, key, bodyHashes), enqueue)
    if ('failure' in outcome) throw new Problem(outcome.failure.code, outcome.failure.message)
    if (!('operationId' in outcome)) throw problem('INTERNAL', undefined, { cause: new Error(`${ctx.path} stored no operation`) })
    if (outcome.operationId !== enqueued) await discard()
    return outcome.operationId
  } catch (error) {
    // When the connection broke before the answer, the job may be enqueued and needs its file.
    if (!isDatabaseUnavailable(error)) await discard()
    throw error
  }
}

/** The bytes that a repeated request must repeat. Of a file also the query, which may say what becomes of it. */
function bodyOf({ body, query }: DelegatedCall['request'], file: Uint8Array | undefined): Uint8Array {
  if (!file) return Buffer.from(JSON.stringify(body))
  const parameters = JSON.stringify(query ?? {})
  return parameters === '{}' ? file : Buffer.concat([file, Buffer.from(parameters)])
}

/** Throws OVERLOADED, which no Idempotency-Key keeps, for a caller that cannot poll while the kind of its work is paused. */
function requireUnpaused(call: DelegatedCall): void {
  if (!canPoll(call) && call.services.jobQueue.pauses.has(call.route.job.name)) throw pausedProblem()
}

async function sendResult(
  route: DelegateRoute,
  ctx: Context,
  operation: Operation,
  { db, blobs }: { readonly db: Executor; readonly blobs: ApiServices['blobs'] },
  workspaceId: string | null,
): Promise<void> {
  const { status = 200, bare } = route
  if (operation.file_id !== null) await sendReply(ctx, status, await jobFileReply({ db, blobs }, workspaceId ?? '', operation.file_id))
  else if (bare) {
    // The function's author controls the content: no browser may render it as a page of this origin.
    ctx.set('X-Content-Type-Options', 'nosniff')
    await sendJson(ctx, status, bare.body(operation.result))
  } else await sendData(ctx, status, operation.result)
}

/** Records that the caller is told of a failure. The caller gets its answer in any case. */
async function recordAnswer({ scope }: DelegatedCall, id: string): Promise<void> {
  await recordFailureAnswered(scope.db, id).catch((error: unknown) =>
    scope.log.warn({ err: error, operation: id }, 'could not record that a failure was answered'),
  )
}

/** The failure of an operation, as if the API itself had thrown it. */
function failureOf({ bare }: DelegateRoute, { error }: Operation): Problem {
  // INTERNAL was logged by the worker; any other failure is expected.
  const failure = new Problem(error?.code ?? 'INTERNAL', error?.message, { expected: error !== null && error.code !== 'INTERNAL' })
  return bare ? bare.failure(failure) : failure
}

/** Aborts when the client disconnects. The check at the start covers a disconnect while the work was enqueued. */
function disconnectSignal({ req, res }: Context): AbortSignal {
  const gone = new AbortController()
  if (req.socket.destroyed) gone.abort()
  else res.once('close', () => gone.abort())
  return gone.signal
}

/**
 * How long to wait for a worker's answer, by the caller's Prefer header (RFC 7240): not at all for `respond-async`, n seconds for `wait=n`;
 * `longestMs` is the most, and the default (docs/contract/jobs.md#preferences).
 */
function readPreferredWait(prefer: string, longestMs: number): { readonly ms: number; readonly applied: string | undefined } {
  const preferences = prefer.split(',').map((preference) => preference.split(';')[0]?.trim().toLowerCase())
  if (preferences.includes('respond-async')) return { ms: 0, applied: 'respond-async' }
  const wait = preferences.map((preference) => /^wait="?(\d{1,6})"?$/.exec(preference ?? '')?.[1]).find((seconds) => seconds !== undefined)
  if (wait === undefined) return { ms: longestMs, applied: undefined }
  return { ms: Math.min(longestMs, Number(wait) * 1000), applied: `wait=${wait}` }
}
