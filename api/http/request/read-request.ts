import type { Context } from 'koa'
import { clientKey } from '#api/access/client-address.ts'
import type { Request } from '#api/http/declaration.ts'
import { readIdempotencyKey } from '#api/http/idempotency.ts'
import { type BodyBounds, boundsOf, type ReadBody, readAnyBody, readForm, readJson } from '#api/http/request/body.ts'
import type { OpenBody } from '#api/http/request/body-memory.ts'
import { readQuery, requestLineOf, requireKnownParameters } from '#api/http/request/query.ts'
import type { Route } from '#api/http/route.ts'
import type { ApiServices } from '#api/http/services.ts'
import type { PlatformScope, Scope } from '#shared/core/scope/scope.ts'
import { readKnownKeys, unknownKeyProblem } from '#shared/platform/kernel/known-keys.ts'
import type { Schema } from '#shared/platform/kernel/schema.ts'

/** An admitted request: its scope, and the resource that the route's `on` resolved. */
export interface Admitted {
  readonly scope: PlatformScope | Scope
  readonly resource: unknown
}

/** A request with its checked body, and the body's bytes. */
export interface ParsedRequest {
  readonly request: Request<string, unknown, unknown>
  readonly bytes: Buffer
}

/** Milliseconds. When the body took longer to arrive, the cache is refreshed and the resource resolved again. */
const slowBodyMs = 50

/** Reads the body in the form that the route takes; VALIDATION_ERROR for another one. */
export async function readRequest(
  route: Route,
  ctx: Context,
  services: ApiServices,
  { scope, resource }: Admitted,
): Promise<ParsedRequest> {
  const query = readRouteQuery(route, ctx)
  const started = performance.now()
  // A retry uses the body that the first attempt has read.
  ctx.state.body ??= arrive(route, ctx, opening(ctx, services))
  const { value, bytes }: ReadBody = await ctx.state.body
  const body =
    route.body && route.body !== 'any' && !takesFile(route)
      ? await bodyOf(route, route.body, ctx, services, value, { scope, resource })
      : value
  if (performance.now() - started <= slowBodyMs) return { request: buildRequest(services, ctx, query, body, resource), bytes }
  await services.cache.refresh()
  const resolved = await route.on?.({ params: ctx.params, query: () => query }, scope as Scope)
  return { request: buildRequest(services, ctx, query, body, resolved?.resource), bytes }
}

/** Parses the body by the route's schema. Unknown keys are reported first, since a misspelled key is often a missing one too. */
async function bodyOf(
  route: Route,
  body: Schema<unknown>,
  ctx: Context,
  services: ApiServices,
  value: unknown,
  { scope, resource }: Admitted,
): Promise<unknown> {
  if (!isStrict(ctx)) return body.parse(value)
  const answer = carriedBy(route)
  const known = readKnownKeys(value, { body: body.json, answer, stored: undefined })
  const read = body.parse(known.value)
  if (!known.isComparable || route.kind === 'page' || !route.stored) return read
  const stored: unknown = JSON.parse(JSON.stringify(await route.stored(buildRequest(services, ctx, {}, read, resource), scope as Scope)))
  readKnownKeys(value, { body: body.json, answer, stored })
  return read
}

/**
 * Schema of the answer whose read-only keys clients may send back: a creation ignores them, a change compares them. Undefined where a route
 * accepts none.
 */
function carriedBy(route: Route): Schema<unknown>['json'] | undefined {
  if (route.kind === 'page') return undefined
  if (route.carries) return route.carries.json
  if (route.stored === undefined && !(route.method === 'POST' && route.status === 201)) return undefined
  return (route.kind === 'delegate' ? route.job.result : route.response)?.json
}

/** Refuses unknown keys below `/v1` (docs/contract/conventions.md#unknown-keys). */
const isStrict = ({ path }: Context): boolean => path.startsWith('/v1/')

async function arrive(route: Route, ctx: Context, open: OpenBody): Promise<ReadBody> {
  const bounds = boundsOf(route, open)
  if (route.kind === 'page') return readForm(ctx.req, bounds, route.multipart)
  if (takesFile(route)) return noBody
  if (!route.body) return refuseBody(route, ctx, bounds)
  return (route.body === 'any' ? readAnyBody : readJson)(ctx.req, bounds)
}

/** Checks the body of a route that takes none. Throws VALIDATION_ERROR for the first key of a JSON body other than `warnings`. */
async function refuseBody({ method }: Route, ctx: Context, bounds: BodyBounds): Promise<ReadBody> {
  if (method === 'DELETE' || !isStrict(ctx) || !ctx.is('json')) return noBody
  const { value } = await readJson(ctx.req, bounds)
  const key =
    typeof value === 'object' && value !== null && !Array.isArray(value) ? Object.keys(value).find((key) => key !== 'warnings') : undefined
  if (key !== undefined) throw unknownKeyProblem(key, key, [], 'this body')
  return noBody
}

const takesFile = (route: Route): boolean => route.kind === 'delegate' && route.upload !== undefined

/** Counts the bytes of a request's body for its client. */
export const opening =
  (ctx: Context, { bodies }: Pick<ApiServices, 'bodies'>): OpenBody =>
  (refuse) =>
    bodies.open(clientKey(ctx.ip), refuse)

const noBody = { value: {}, bytes: Buffer.alloc(0) }

/** The request as a handler sees it. */
export const buildRequest = <Body>(
  { rateLimits, feedStreams }: Pick<ApiServices, 'rateLimits' | 'feedStreams'>,
  ctx: Context,
  query: unknown,
  body: Body,
  resource: unknown,
): Request<string, Body, unknown> => ({
  params: ctx.params,
  query,
  body,
  resource,
  // Only GET has ranges (RFC 9110, 14.2).
  header: (name) => (ctx.method === 'HEAD' && name === 'range' ? '' : ctx.get(name)),
  idempotencyKey: () => readIdempotencyKey(ctx),
  address: ctx.ip,
  passwordQuota: () => rateLimits.passwordQuota(ctx),
  preferredType: (offered) => {
    ctx.vary('Accept')
    return ctx.accepts(...offered) || undefined
  },
  feedStreams,
  line: () => requestLineOf(ctx),
})

/** Parses the query by the route's schema. */
export function readRouteQuery(route: Route, ctx: Context): unknown {
  if (isStrict(ctx)) requireKnownParameters(ctx.querystring, route.query)
  return route.query ? readQuery(ctx.query, route.query) : {}
}
