import type { Context } from 'koa'
import type { Download } from '#api/http/route.ts'

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
  // Set outright: working out the header from the type's name takes longer than the type.
  ctx.res.setHeader('Content-Type', 'application/json; charset=utf-8')
  ctx.body = JSON.stringify(body)
}

/** Answers a stream with its own headers. */
export function sendDownload(ctx: Context, status: number, { stream, headers }: Download): void {
  ctx.status = status
  ctx.set(headers)
  ctx.body = stream
}
