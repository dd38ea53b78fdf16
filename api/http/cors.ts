import type { Context } from 'koa'

const exposed = 'X-Request-ID, X-Export-Truncated, ETag, Location, Retry-After, Preference-Applied, RateLimit, RateLimit-Policy'

/** What browsers of any origin may call. */
const open = ['/v1/', '/fn/']

/**
 * Lets browsers of any origin call the authenticated routes and public functions, without credentials (decisions, CORS). Answers a preflight itself and
 * returns true; otherwise it only sets headers.
 */
export function crossOrigin(ctx: Context): boolean {
  if (!open.some((base) => ctx.path.startsWith(base))) return false
  if (ctx.req.headers.origin === undefined) return false
  ctx.set('Access-Control-Allow-Origin', '*')
  ctx.set('Access-Control-Expose-Headers', exposed)
  if (ctx.method !== 'OPTIONS' || ctx.req.headers['access-control-request-method'] === undefined) return false
  ctx.set('Access-Control-Allow-Methods', 'GET, POST, PUT, PATCH, DELETE')
  ctx.set('Access-Control-Allow-Headers', ctx.get('access-control-request-headers') || 'Authorization, Content-Type')
  ctx.set('Access-Control-Max-Age', '86400')
  ctx.status = 204
  return true
}
