import type { Context } from 'koa'
import type { Route } from '#api/http/route.ts'
import type { Routers } from '#api/http/routers.ts'
import { problem } from '#shared/platform/kernel/errors.ts'

const exposed =
  'X-Request-ID, X-Export-Truncated, ETag, Link, Location, Content-Disposition, Content-Range, Retry-After, Preference-Applied, RateLimit, RateLimit-Policy'

/** Which websites may call a route from a browser. */
const originsOf = ({ origins, kind }: Pick<Route, 'origins' | 'kind'>): 'any' | 'own' => origins ?? (kind === 'page' ? 'own' : 'any')

/** Whether a route refuses requests from other websites. A GET route never does, since links in mails are cross-site. */
export const refusesCrossSite = (route: Pick<Route, 'origins' | 'kind' | 'method'>): boolean =>
  originsOf(route) === 'own' && route.method !== 'GET'

/**
 * Sets CORS headers for any origin, without credentials (docs/contract/conventions.md#cors), on routes with origins 'any' and on all paths
 * below `/v1`, also unknown ones. Answers a preflight itself and returns true; otherwise it only sets headers.
 */
export function allowCrossOrigin(ctx: Context, routers: Routers): boolean {
  if (ctx.req.headers.origin === undefined) return false
  const asked = ctx.req.headers['access-control-request-method']
  const isPreflight = ctx.method === 'OPTIONS' && asked !== undefined
  if (!isOpen(isPreflight ? asked : ctx.method, ctx.path, routers)) return false
  ctx.set('Access-Control-Allow-Origin', '*')
  ctx.set('Access-Control-Expose-Headers', exposed)
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
 * Throws FORBIDDEN for a browser's cross-site request (docs/contract/conventions.md#cross-site-requests), by Sec-Fetch-Site, or by Origin
 * in older browsers. A request with neither header is not from a browser.
 */
export function refuseCrossSite(ctx: Context, publicUrl: string): void {
  const { origin, 'sec-fetch-site': site } = ctx.req.headers
  const isOwn = site === undefined ? origin === undefined || isOurs(origin, ctx, publicUrl) : site === 'same-origin' || site === 'none'
  if (!isOwn) throw problem('FORBIDDEN', 'Pages of other websites may not send this request')
}

/**
 * Whether an origin is this server's: the origin of the public URL, or, when the request has another host, that host. A browser always sends
 * the true host; the scheme is unknown behind a proxy.
 */
function isOurs(origin: string, { host }: Context, publicUrl: string): boolean {
  if (!URL.canParse(origin)) return false
  const ours = new URL(publicUrl)
  const { origin: sent, host: sentHost } = new URL(origin)
  return sent === ours.origin || (host !== ours.host && sentHost === host)
}
