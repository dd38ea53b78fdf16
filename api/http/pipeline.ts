import type { Context, Middleware } from 'koa'
import { authenticate } from '#api/access/authenticate.ts'
import { enterWorkspace } from '#api/access/enter-workspace.ts'
import { consoleAddress, requireFormToken } from '#api/access/operator-session.ts'
import { refuseCrossSite, refusesCrossSite } from '#api/http/cors.ts'
import type { Request } from '#api/http/declaration.ts'
import { respondFromWorker } from '#api/http/delegate.ts'
import { type BodyHashes, callerIdempotencyKey, hashBody, readIdempotencyKey, requestKeyOf, runOnce } from '#api/http/idempotency.ts'
import { LargeAnswer } from '#api/http/reply/admission.ts'
import { EventReply, Replaced, Reply, WithETag, WithHeaders } from '#api/http/reply/reply.ts'
import { sendData, sendReply } from '#api/http/reply/send.ts'
import { requireCleanAddress } from '#api/http/request/query.ts'
import { type Admitted, buildRequest, opening, readRequest, readRouteQuery } from '#api/http/request/read-request.ts'
import { receiveFile, uploadFingerprint } from '#api/http/request/upload.ts'
import type { AnswerRoute, PageRoute, ReceiveRoute, Route } from '#api/http/route.ts'
import type { ApiServices } from '#api/http/services.ts'
import { type Page, renderPage } from '#api/pages/page.ts'
import type { Permission } from '#shared/core/policy/permissions.ts'
import { requirePermission } from '#shared/core/scope/access.ts'
import { type PlatformScope, type Scope, within } from '#shared/core/scope/scope.ts'
import { inAttempts } from '#shared/platform/db/attempts.ts'
import { readVerified } from '#shared/platform/db/cache/read-verified.ts'
import type { Verification } from '#shared/platform/db/cache/verification.ts'
import type { Executor } from '#shared/platform/db/database.ts'
import { rowParametersOf } from '#shared/platform/kernel/cursor.ts'
import { Problem, problem } from '#shared/platform/kernel/errors.ts'
import { isUuid } from '#shared/platform/kernel/ids.ts'
import type { RunningCall } from '#shared/platform/kernel/process/running-calls.ts'

/**
 * Handles every request in one order: cross-site check (403), limit by IP, authentication (401), workspace (404), app enabled (404), permission
 * (403), validation (400), work, answer. The application sets the request id before. A request that writes refreshes the
 * cache first; one that only reads verifies the cache by its own statement.
 */
export function createRouteHandler(route: Route, services: ApiServices): Middleware {
  const isSameSiteOnly = refusesCrossSite(route)
  return async (ctx) => {
    ctx.state.route = route.path
    ctx.state.tag = route.tag
    if (route.kind === 'page') ctx.state.framed = route.framed
    if (route.permission === 'operator') ctx.state.entrance = consoleAddress(services.config)
    if (isSameSiteOnly) refuseCrossSite(ctx, route, services.config.publicUrl)
    if (route.limit) await services.rateLimits.countClient(ctx, route.limit)
    if (isRead(route)) {
      return send(ctx, await readVerified(services.cache, (verification) => read(route, ctx, services, verification)), services)
    }
    const answer = await inAttempts(services.cache, databaseOf(ctx, services), ({ db }) => work(route, ctx, services, db))
    if (answer) await send(ctx, answer, services)
  }
}

/** Whether a route only reads. */
const isRead = (route: Route): route is AnswerRoute | PageRoute =>
  (route.kind === 'answer' || route.kind === 'page') && route.method === 'GET'

/** Whether a request can be refused after its work: it has changed nothing. */
const changesNothing = (route: Route): boolean => (route.kind === 'answer' && route.onlyReads === true) || isRead(route)

async function read(
  route: AnswerRoute | PageRoute,
  ctx: Context,
  services: ApiServices,
  verification: Verification | undefined,
): Promise<Answer> {
  const admitted = await admit(route, ctx, services, databaseOf(ctx, services))
  const scope = { ...admitted.scope, verification } as Scope
  const query = readRouteQuery(route, ctx)
  const request = buildRequest(services, ctx, query, {}, admitted.resource)
  if (route.kind === 'page') return pageOf(route, await route.handle({ ...request, body: new URLSearchParams() }, scope), services)
  return answerOf(route, await route.handle(request, scope))
}

/** The answer to a request that may write; undefined where a worker's answer has been sent. It may be called again: see `inAttempts`. */
async function work(route: Route, ctx: Context, services: ApiServices, db: Executor): Promise<Answer | undefined> {
  const admitted = await admit(route, ctx, services, db)
  const { scope } = admitted
  const key = isBytes(route) || changesNothing(route) ? undefined : callerIdempotencyKey(ctx, scope)
  if (route.kind !== 'page' && route.handlesVisitorKeys) readIdempotencyKey(ctx)
  if (route.kind === 'receive') return workOnFile(route, ctx, admitted, services, key)
  const { request, bytes } = await readRequest(route, ctx, services, admitted)
  await checkBodyResource(route, request, scope)
  if (route.kind === 'page') {
    if (route.permission === 'operator') requireFormToken(scope, request.body as URLSearchParams)
    const shown = await route.handle({ ...request, body: request.body as URLSearchParams }, scope as Scope)
    return pageOf(route, shown, services)
  }
  if (route.kind === 'delegate') {
    await respondFromWorker({ route, ctx, request, scope, services, key })
    return undefined
  }
  const handle = async (inside: PlatformScope | Scope) => answerOf(route, await route.handle(request, inside as Scope))
  if (key === undefined) return handle(scope)
  return handleOnce(ctx, key, hashBody(services, bytes), scope, services, handle, route)
}

/** Answers that are not JSON are not saved for an Idempotency-Key. */
const isBytes = (route: Route): boolean => route.kind !== 'delegate' && route.kind !== 'page' && route.contentType !== undefined

/** Stores the file of a request while it arrives, then runs the work. */
async function workOnFile(
  route: ReceiveRoute,
  ctx: Context,
  { scope, resource }: Admitted,
  services: ApiServices,
  key: string | undefined,
): Promise<Answer> {
  const { body: _, ...request } = buildRequest(services, ctx, readRouteQuery(route, ctx), undefined, resource)
  const maxBytes = route.upload.maxBytes === 'files' ? services.config.maxUploadBytes : route.upload.maxBytes
  const upload = { ...route.upload, maxBytes }
  // The file arrives once, however often the request is tried.
  ctx.state.received ??= receiveFile(ctx.req, upload, opening(ctx, services), (file) => route.keep(file, request, scope as Scope))
  const { kept, fields } = await (ctx.state.received as ReturnType<typeof receiveFile<unknown>>)
  await services.cache.refresh()
  const handle = async (inside: PlatformScope | Scope) => answerOf(route, await route.handle({ ...request, kept, fields }, inside as Scope))
  if (key === undefined || route.digestOf === null) return handle(scope)
  return handleOnce(ctx, key, hashBody(services, uploadFingerprint(route.digestOf(kept), fields)), scope, services, handle)
}

interface Answer {
  readonly status: number
  readonly data: unknown
}

/** A handler's result with the status to send. */
const answerOf = ({ status }: Pick<AnswerRoute, 'status'>, data: unknown): Answer =>
  data instanceof Replaced ? { status: 200, data: data.data } : { status, data }

const pageOf = ({ framed }: PageRoute, shown: Page | Reply, { config }: ApiServices): Answer => ({
  status: 200,
  data: shown instanceof Reply ? shown : renderPage(shown, { framed, publicUrl: config.publicUrl }),
})

async function send(ctx: Context, { status, data }: Answer, { streams }: ApiServices): Promise<void> {
  if (data instanceof WithETag) {
    await sendData(ctx, status, data.data)
    ctx.set('ETag', data.etag)
  } else if (data instanceof WithHeaders) {
    await sendData(ctx, status, data.data)
    ctx.set(data.headers)
  } else if (data instanceof EventReply) await streams.begin(ctx, data)
  else if (data instanceof Reply) await sendReply(ctx, status, data)
  else await sendData(ctx, status, data)
}

/** The database as one request uses it: the bytes that the request reads are counted. */
function databaseOf(ctx: Context, { database }: ApiServices): Executor {
  ctx.state.meter ??= { bytes: 0 }
  return database.metered(ctx.state.meter)
}

/** Runs a request with an Idempotency-Key, in one transaction with saving its answer unless repeatable, or returns the saved answer. */
async function handleOnce(
  ctx: Context,
  key: string,
  bodyHashes: BodyHashes,
  scope: PlatformScope | Scope,
  services: ApiServices,
  handle: (scope: PlatformScope | Scope) => Promise<Answer>,
  route: Pick<AnswerRoute, 'repeatable'> = {},
): Promise<Answer> {
  const idempotencyServices = { config: services.config, database: scope.db }
  const outcome = await runOnce(idempotencyServices, requestKeyOf(ctx, scope, key, bodyHashes), (db) => handle(within(scope, db)), route)
  if ('failure' in outcome) throw new Problem(outcome.failure.code, outcome.failure.message)
  if ('operationId' in outcome) throw problem('INTERNAL', undefined, { cause: new Error(`${ctx.path} stored an operation`) })
  return outcome
}

/** Checks authentication, workspace, app and permission, before the body is read. */
async function admit(route: Route, ctx: Context, services: ApiServices, db: Executor): Promise<Admitted> {
  ctx.state.largeAnswer ??= new LargeAnswer(ctx, services.answers, changesNothing(route))
  const largeAnswer = ctx.state.largeAnswer as LargeAnswer
  const platform = {
    ...(await authenticate(ctx, route, services, db)),
    admitAnswer: (bytes: number) => largeAnswer.admitUnread(bytes),
    cursorBinding: () => cursorBindingOf(route, ctx),
  }
  requireCleanAddress(ctx)
  const orgId = ctx.params?.orgId as string | undefined
  const call = ctx.state.call as RunningCall
  if (orgId !== undefined)
    return enterWorkspace(route, platform, orgId, { params: ctx.params, query: () => readRouteQuery(route, ctx) }, call)
  call.countFor(platform.principal?.id ?? null)
  return { scope: platform, resource: undefined }
}

/** What cursors of a request are valid for: its route, the names in its path, the workspace among them, and the parameters that choose rows. */
const cursorBindingOf = (route: Route, ctx: Context): unknown => [
  route.method,
  route.path,
  Object.entries((ctx.params ?? {}) as Record<string, string>).map(([name, text]) => [name, isUuid(text) ? text.toLowerCase() : text]),
  rowParametersOf(readRouteQuery(route, ctx) as object),
]

/** Checks the permission on a resource that only the body names. */
async function checkBodyResource(route: Route, request: Request<string, unknown, unknown>, scope: PlatformScope | Scope): Promise<void> {
  if (route.kind === 'page' || !route.onBody || !('actor' in scope)) return
  const resource = await route.onBody(request, scope)
  requirePermission(scope, route.permission as Permission, resource)
}
