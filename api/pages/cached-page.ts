import { createHash } from 'node:crypto'
import type { Context } from 'koa'

/** A page without a caller, which browsers keep. */
export interface CachedPage {
  readonly type: string
  readonly body: string | Buffer
  readonly etag: string
  readonly headers: Readonly<Record<string, string>>
}

/** A generated page; browsers revalidate it by its ETag on every request. */
export const cachedPage = (type: string, body: string, headers: Readonly<Record<string, string>> = {}): CachedPage => ({
  type,
  body,
  etag: createHash('sha256').update(body).digest('base64url'),
  headers: { 'Cache-Control': 'no-cache', ...headers },
})

/** Sends a page, or 304 to a browser that has it. */
export function sendCached(ctx: Context, { type, body, etag, headers }: CachedPage): void {
  ctx.status = 200
  ctx.set({ 'X-Content-Type-Options': 'nosniff', ...headers })
  ctx.etag = etag
  if (ctx.fresh) {
    ctx.status = 304
    return
  }
  ctx.type = type
  ctx.body = body
}
