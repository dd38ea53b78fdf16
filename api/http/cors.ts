import type { Context } from 'koa'
import type { Route } from '#api/http/route.ts'
import type { Routers } from '#api/http/routers.ts'
import { problem } from '#shared/platform/kernel/errors.ts'

const exposedHeaders =
  'X-Request-ID, X-Export-Truncated, ETag, Link, Location, Content-Disposition, Content-Range, Retry-After, Preference-Applied, RateLimit, RateLimit-Policy'

/** The websites whose pages may call a route from a browser: all, or only this server's own. */
const originsOf = ({ origins, kind }: Pick<Route, 'origins' | 'kind'>): 'any' | 'own' | 'named' =>
  origins ?? (kind === 'page' ? 'own' : 'any')

/** Whether a route refuses requests from other websites. A GET route accepts them: a click on a link in a mail is a cross-site request. */
export const refusesCrossSite = (route: Pick<Route, 'origins' | 'kind' | 'method'>): boolean =>
  originsOf(route) !== 'any' && route.method !== 'GET'

/**
 * Sets CORS headers for any origin, without credentials (docs/contract/conventions.md#cors), on routes whose origins are 'any' and on every
 * path below `/v1`, known or not. Answers a preflight and returns true. Returns false for any other request, which is still to be answered.
 */
export function allowCrossOrigin(ctx: Context, routers: Routers): boolean {
  if (ctx.req.headers.origin === undefined) return false
  const requestedMethod = ctx.req.headers['access-control-request-method']
  const isPreflight = ctx.method === 'OPTIONS' && requestedMethod !== undefined
  if (!isOpen(isPreflight ? requestedMethod : ctx.method, ctx.path, routers)) return false
  ctx.set('Access-Control-Allow-Origin', '*')
  ctx.set('Access-Control-Expose-Headers', exposedHeaders)
  if (!isPreflight) return false
  ctx.set('Access-Control-Allow-Methods', 'GET, POST, PUT, PATCH, DELETE')
  ctx.set('Access-Control-Allow-Headers', ctx.get('access-control-request-headers') || 'Authorization, Content-Type')
  ctx.set('Access-Control-Max-Age', '86400')
  ctx.status = 204
  return true
}

function isOpen(method: string, path: string, routers: Routers): boolean {
  if (path.startsWith('/v1/')) return true
  const route = routers.findRoute(method, path)
  return route !== undefined && originsOf(route) === 'any'
}

/**
 * Throws FORBIDDEN for a browser's cross-site request (docs/contract/conventions.md#cross-site-requests). The header Sec-Fetch-Site decides;
 * without it, as in older browsers, Origin does. A request with neither header passes, since no browser sent it, unless the route wants the
 * origin named: then Origin must be this server's own, whatever else is sent.
 */
export function refuseCrossSite(ctx: Context, route: Pick<Route, 'origins' | 'kind'>, publicUrl: string): void {
  const { origin, 'sec-fetch-site': site } = ctx.req.headers
  const isOwn = site === undefined ? origin === undefined || isOwnOrigin(origin, ctx, publicUrl) : site === 'same-origin' || site === 'none'
  if (!isOwn) throw problem('FORBIDDEN', 'Pages of other websites may not send this request')
  if (originsOf(route) === 'named' && (origin === undefined || !isOwnOrigin(origin, ctx, publicUrl)))
    throw problem('FORBIDDEN', 'Send this request from the page itself: its header Origin must be the address of this server')
}

/**
 * Whether an origin is this server's: that of the public URL, or, in a request to another host, any origin with that host. A page cannot make a
 * browser send a false Host. The scheme is not compared, since it is unknown behind a proxy.
 */
function isOwnOrigin(origin: string, { host }: Context, publicUrl: string): boolean {
  if (!URL.canParse(origin)) return false
  const publicAddress = new URL(publicUrl)
  const { origin: sentOrigin, host: sentHost } = new URL(origin)
  return sentOrigin === publicAddress.origin || (host !== publicAddress.host && sentHost === host)
}
