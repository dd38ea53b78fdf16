import type { Context } from 'koa'
import type { Reply } from '#api/http/reply/reply.ts'

/** Answers `{data}`, or nothing with 204. */
export function sendData(ctx: Context, status: number, data: unknown): void {
  if (status === 204) {
    ctx.status = status
    ctx.body = null
  } else sendJson(ctx, status, { data })
}

/** Answers with a whole body. */
export function sendJson(ctx: Context, status: number, body: unknown): void {
  ctx.status = status
  // Faster than `ctx.type`, which searches for the type.
  ctx.res.setHeader('Content-Type', 'application/json; charset=utf-8')
  ctx.body = JSON.stringify(body)
}

/** Answers bytes with their own headers; no bytes for HEAD. */
export async function sendReply(ctx: Context, status: number, { body, headers, status: own }: Reply): Promise<void> {
  ctx.status = own ?? status
  // Koa turns a null body into 204, whatever the status.
  if (typeof body !== 'function') ctx.body = body ?? ''
  else ctx.body = ctx.method === 'HEAD' ? '' : await body()
  ctx.res.removeHeader('Content-Type')
  for (const [name, value] of Object.entries(headers)) ctx.res.setHeader(name, value)
}
