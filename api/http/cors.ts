import type { Context } from 'koa'
import type { Route } from '#api/http/route.ts'
import type { Routers } from '#api/http/routers.ts'
import { problem } from '#shared/platform/kernel/errors.ts'

const exposed =
  'X-Request-ID, X-Export-Truncated, ETag, Link, Location, Content-Disposition, Content-Range, Retry-After, Preference-Applied, RateLimit, RateLimit-Policy'

/** Which websites may call a route from a browser. */
export const originsOf = ({ origins, kind }: Pick<Route, 'origins' | 'kind'>): 'any' | 'own' => origins ?? (kind === 'page' ? 'own' : 'any')

/** Whether a route refuses requests from other websites: one that changes nothing never does, since links in mails are cross-site. */
export const refusesCrossSite = (route: Pick<Route, 'origins' | 'kind' | 'method'>): boolean =>
  originsOf(route) === 'own' && route.method !== 'GET'

/**
 * Lets browsers of any origin call what is open to them, without credentials (decisions, CORS): the routes that say so, and all below `/v1`,
 * whether it is there or not. Answers a preflight itself and returns true; otherwise it only sets headers.
 */
export function allowCrossOrigin(ctx: Context, rooms: Routers): boolean {
  if (ctx.req.headers.origin === undefined) return false
  const asked = ctx.req.headers['access-control-request-method']
  const isPreflight = ctx.method === 'OPTIONS' && asked !== undefined
  if (!isOpen(isPreflight ? asked : ctx.method, ctx.path, rooms)) return false
  ctx.set('Access-Control-Allow-Origin', '*')
  ctx.set('Access-Control-Expose-Headers', exposed)
  if (!isPreflight) return false
  ctx.set('Access-Control-Allow-Methods', 'GET, POST, PUT, PATCH, DELETE')
  ctx.set('Access-Control-Allow-Headers', ctx.get('access-control-request-headers') || 'Authorization, Content-Type')
  ctx.set('Access-Control-Max-Age', '86400')
  ctx.status = 204
  return true
}

function isOpen(method: string, path: string, rooms: Routers): boolean {
  if (path.startsWith('/v1/')) return true
  const route = rooms.findRoute(method, path)
  return route !== undefined && originsOf(route) === 'any'
}

/**
 * Throws FORBIDDEN for a request that a page of another website made its visitor's browser send (decisions, CORS): browsers tell by
 * Sec-Fetch-Site, older ones by Origin; what sends neither is no browser.
 */
export function refuseCrossSite(ctx: Context, publicUrl: string): void {
  const { origin, 'sec-fetch-site': site } = ctx.req.headers
  const isOwn = site === undefined ? origin === undefined || isOurs(origin, ctx, publicUrl) : site === 'same-origin' || site === 'none'
  if (!isOwn) throw problem('FORBIDDEN', 'Pages of other websites may not send this')
}

/**
 * Whether a website is this server's: the whole origin of the public address, or, where the server was asked by another name, that host. A
 * browser cannot be made to lie about the host that it asks; behind a proxy nobody knows by which scheme it was asked.
 */
function isOurs(origin: string, { host }: Context, publicUrl: string): boolean {
  if (!URL.canParse(origin)) return false
  const ours = new URL(publicUrl)
  const { origin: sent, host: sentHost } = new URL(origin)
  return sent === ours.origin || (host !== ours.host && sentHost === host)
}
