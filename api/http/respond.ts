import type { Context } from 'koa'
import type { Download } from '#api/http/route.ts'

/** Answers `{data}`, or nothing with 204. */
export function sendData(ctx: Context, status: number, data: unknown): void {
  ctx.status = status
  if (status === 204) {
    ctx.body = null
    return
  }
  // Set outright: working out the header from the type's name takes longer than the type.
  ctx.res.setHeader('Content-Type', 'application/json; charset=utf-8')
  ctx.body = JSON.stringify({ data })
}

/** Answers a stream with its own headers. */
export function sendDownload(ctx: Context, status: number, { stream, headers }: Download): void {
  ctx.status = status
  ctx.set(headers)
  ctx.body = stream
}
