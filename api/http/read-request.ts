import type { Context } from 'koa'
import { type ReadBody, readAnyBody, readForm, readJson } from '#api/http/body.ts'
import type { Request } from '#api/http/declaration.ts'
import { lineOf, readQuery } from '#api/http/query.ts'
import type { Route } from '#api/http/route.ts'
import type { ApiServices } from '#api/services.ts'

/** A request with its body read and checked, and the bytes that it came in. */
export interface Read {
  readonly request: Request<string, unknown, unknown>
  readonly bytes: Buffer
}

/** Bodies that take longer to arrive than this are met by caches that are asked once more. */
const slowBodyMs = 50

/** Reads what a route takes as its body; VALIDATION_ERROR when it is something else. */
export async function readRequest(route: Route, ctx: Context, { cache }: ApiServices): Promise<Read> {
  const query = queryOf(route, ctx)
  const started = performance.now()
  // Work that is begun again finds the body read.
  ctx.state.body ??= arrive(route, ctx)
  const { value, bytes }: ReadBody = await ctx.state.body
  const body = route.body && route.body !== 'any' && !takesFile(route) ? route.body.parse(value) : value
  if (performance.now() - started > slowBodyMs) await cache.settle()
  return { request: requestOf(ctx, query, body), bytes }
}

async function arrive(route: Route, ctx: Context): Promise<ReadBody> {
  if (route.kind === 'page') return readForm(ctx.req, route.maxBodyBytes, route.multipart)
  if (!route.body || takesFile(route)) return noBody
  return (route.body === 'any' ? readAnyBody : readJson)(ctx.req, route.maxBodyBytes)
}

const takesFile = (route: Route): boolean => route.kind === 'delegate' && route.upload !== undefined

const noBody = { value: {}, bytes: Buffer.alloc(0) }

/** What of a request a handler sees. */
export const requestOf = <Body>(ctx: Context, query: unknown, body: Body): Request<string, Body, unknown> => ({
  params: ctx.params,
  query,
  body,
  // A range is of GET alone (RFC 9110, 14.2).
  header: (name) => (ctx.method === 'HEAD' && name === 'range' ? '' : ctx.get(name)),
  address: ctx.ip,
  line: () => lineOf(ctx),
})

/** The query by the route's schema. */
export const queryOf = (route: Route, ctx: Context): unknown => (route.query ? readQuery(ctx.query, route.query) : {})
