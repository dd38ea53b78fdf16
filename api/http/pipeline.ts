import type { Context, Middleware } from 'koa'
import { authenticate } from '#api/access/authenticate.ts'
import { enterWorkspace } from '#api/access/enter.ts'
import { type JsonBody, readAnyBody, readJson } from '#api/http/body.ts'
import { respondFromWorker } from '#api/http/delegated.ts'
import { hashOf, idempotencyKey, once, requestKeyOf } from '#api/http/idempotency.ts'
import { lineOf, readQuery, refuseBadAddress } from '#api/http/query.ts'
import { sendData, sendDownload } from '#api/http/respond.ts'
import { type AnswerRoute, Download, Replaced, type Request, type Route, Tagged } from '#api/http/route.ts'
import type { ApiServices } from '#api/services.ts'
import { type Guard, writeGuarded } from '#shared/db/guard.ts'
import { readVerified } from '#shared/db/read-verified.ts'
import type { Verification } from '#shared/db/verification.ts'
import { Problem, problem } from '#shared/kernel/errors.ts'
import type { Permission } from '#shared/policy/permissions.ts'
import { type PlatformScope, type Scope, within } from '#shared/scope/scope.ts'

/**
 * One order for every request: IP limit, who (401), whose workspace (404), app on (404), may they (403), well formed (400), limit of what it
 * is about, work, answer. The request id stands before all of it, in the application. What is remembered of roles, keys and types is asked
 * for before the first of these; a request that only looks, or writes by one statement, is told by that.
 */
export function serve(route: Route, services: ApiServices): Middleware {
  return async (ctx) => {
    ctx.state.route = route.path
    if (route.limit) await services.rateLimits.take(ctx, route.limit)
    if (isRead(route)) return send(ctx, await readVerified(services.cache, (verification) => read(route, ctx, services, verification)))
    if (isGuarded(route, ctx)) return send(ctx, await writeGuarded(services.cache, (guard) => write(route, ctx, services, guard)))
    await services.cache.settle()
    await work(route, ctx, services)
  }
}

/** Whether a route only looks, and answers with what it saw. */
const isRead = (route: Route): route is AnswerRoute =>
  route.kind === 'answer' && route.method === 'GET' && route.contentType === undefined && route.limitBy === undefined

async function read(route: AnswerRoute, ctx: Context, services: ApiServices, verification: Verification | undefined): Promise<Answer> {
  const scope = await admit(route, ctx, services)
  return answerOf(route, await route.handle(requestOf(ctx, queryOf(route, ctx), {}), { ...scope, verification } as Scope))
}

/** Whether a route's only write says itself whether what is remembered holds. With an Idempotency-Key it writes more than that. */
const isGuarded = (route: Route, ctx: Context): route is AnswerRoute =>
  route.kind === 'answer' && route.guarded === true && ctx.req.headers['idempotency-key'] === undefined

async function write(route: AnswerRoute, ctx: Context, services: ApiServices, guard: Guard | undefined): Promise<Answer> {
  const scope = await admit(route, ctx, services)
  const { request } = await readRequest(route, ctx, services)
  await checkBodyResource(route, request, scope)
  return answerOf(route, await route.handle(request, { ...scope, guard } as Scope))
}

async function work(route: Route, ctx: Context, services: ApiServices): Promise<void> {
  const scope = await admit(route, ctx, services)
  const key = idempotencyKey(ctx, scope)
  const { request, bytes } = await readRequest(route, ctx, services)
  await checkBodyResource(route, request, scope)
  if (route.limitBy) await services.rateLimits.takeSubject(ctx, route.limitBy[0], route.limitBy[1](request, scope as Scope))
  if (route.kind === 'delegate') return respondFromWorker(route, ctx, request, scope, services, key)
  const handle = async (inside: PlatformScope | Scope) => answerOf(route, await route.handle(request, inside as Scope))
  send(ctx, key === undefined ? await handle(scope) : await handleOnce(ctx, key, bytes, scope, services, handle))
}

interface Answer {
  readonly status: number
  readonly data: unknown
}

/** What a handler gave back, with the status that it is answered with. */
const answerOf = ({ status }: AnswerRoute, data: unknown): Answer =>
  data instanceof Replaced ? { status: 200, data: data.data } : { status, data }

function send(ctx: Context, { status, data }: Answer): void {
  if (data instanceof Tagged) {
    ctx.set('ETag', data.etag)
    sendData(ctx, status, data.data)
  } else if (data instanceof Download) sendDownload(ctx, status, data)
  else sendData(ctx, status, data)
}

/** The same for a request with an Idempotency-Key: in one transaction with keeping the answer, or the answer that was kept. */
async function handleOnce(
  ctx: Context,
  key: string,
  bytes: Buffer,
  scope: PlatformScope | Scope,
  services: ApiServices,
  handle: (scope: PlatformScope | Scope) => Promise<Answer>,
): Promise<Answer> {
  const outcome = await once(services, requestKeyOf(ctx, scope, key, hashOf(services, bytes)), (tx) => handle(within(scope, tx)))
  if ('failure' in outcome) throw new Problem(outcome.failure.code, outcome.failure.message)
  if ('operationId' in outcome) throw problem('INTERNAL', undefined, { cause: new Error(`${ctx.path} keeps an operation`) })
  return outcome
}

/** Who calls, whose workspace, whether its app is on, and whether the caller may: whatever its body says, which nobody has read yet. */
async function admit(route: Route, ctx: Context, services: ApiServices): Promise<PlatformScope | Scope> {
  const platform = await authenticate(ctx, route.permission, services)
  refuseBadAddress(ctx)
  const orgId = ctx.params?.orgId as string | undefined
  if (orgId === undefined) return platform
  return enterWorkspace(route, platform, orgId, { params: ctx.params, query: () => queryOf(route, ctx) })
}

/** Bodies that take longer to arrive than this are met by caches that are asked once more. */
const slowBodyMs = 50

interface Read {
  readonly request: Request<string, unknown, unknown>
  readonly bytes: Buffer
}

async function readRequest(route: Route, ctx: Context, { cache }: ApiServices): Promise<Read> {
  const query = queryOf(route, ctx)
  const started = performance.now()
  // Work that is begun again finds the body read.
  ctx.state.body ??= receive(route, ctx)
  const { value, bytes }: JsonBody = await ctx.state.body
  const body = route.body && route.body !== 'any' && !takesFile(route) ? route.body.parse(value) : value
  if (performance.now() - started > slowBodyMs) await cache.settle()
  return { request: requestOf(ctx, query, body), bytes }
}

const receive = async (route: Route, ctx: Context): Promise<JsonBody> =>
  route.body && !takesFile(route) ? (route.body === 'any' ? readAnyBody : readJson)(ctx.req) : noBody

const takesFile = (route: Route): boolean => route.kind === 'delegate' && route.upload !== undefined

const requestOf = (ctx: Context, query: unknown, body: unknown): Request<string, unknown, unknown> => ({
  params: ctx.params,
  query,
  body,
  header: (name) => ctx.get(name),
  address: ctx.ip,
  line: () => lineOf(ctx),
})

const noBody = { value: {}, bytes: Buffer.alloc(0) }

const queryOf = (route: Route, ctx: Context): unknown => (route.query ? readQuery(ctx.query, route.query) : {})

/** A permission for a resource that only the body names is asked for once the body is read. */
async function checkBodyResource(route: Route, request: Request<string, unknown, unknown>, scope: PlatformScope | Scope): Promise<void> {
  if (!route.onBody || !('actor' in scope)) return
  const resource = await route.onBody(request, scope)
  if (scope.actor.policy.permits(route.permission as Permission, resource) === 'never')
    throw problem('FORBIDDEN', `Needs ${route.permission} on ${resource}`)
}
