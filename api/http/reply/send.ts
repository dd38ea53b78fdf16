import type { Context } from 'koa'
import type { Reply } from '#api/http/reply/reply.ts'
import { pauseWhenDue } from '#shared/platform/kernel/process/thread-share.ts'
import type { WorkOwner } from '#shared/platform/kernel/process/work-owner.ts'
import { exceedsJsonBytes, jsonPieces } from '#shared/platform/kernel/values/json-pieces.ts'

/** An answer above this many bytes is written in pieces of about this size, or of one item of its lists (page "Beyond", section 2). */
const pieceBytes = 256_000

/** Answers `{data}`, or nothing with 204. */
export async function sendData(ctx: Context, status: number, data: unknown): Promise<void> {
  if (status === 204) {
    ctx.status = status
    ctx.body = null
  } else await sendJson(ctx, status, { data })
}

/** Answers with a whole body. */
export async function sendJson(ctx: Context, status: number, body: unknown): Promise<void> {
  const written = isLarge(ctx, body) ? await writeInPieces(ctx.state.call.owner, body) : JSON.stringify(body)
  ctx.status = status
  // Faster than `ctx.type`, which searches for the type.
  ctx.res.setHeader('Content-Type', 'application/json; charset=utf-8')
  ctx.body = written
}

/**
 * Whether an answer may have more than `pieceBytes`: by the bytes that its request has read. A whole list may come from memory instead, so
 * its items are looked at.
 */
const isLarge = (ctx: Context, body: unknown): boolean =>
  (ctx.state.meter?.bytes ?? 0) > pieceBytes ||
  (Array.isArray((body as { data?: unknown } | null)?.data) && exceedsJsonBytes(body, pieceBytes))

/** Writes JSON without holding the thread: other workspaces' calls run between its pieces. */
async function writeInPieces(owner: WorkOwner, body: unknown): Promise<Buffer> {
  const written: Buffer[] = []
  let piece = ''
  for (const text of jsonPieces(body)) {
    piece += text
    if (piece.length < pieceBytes) continue
    written.push(Buffer.from(piece))
    piece = ''
    await pauseWhenDue(owner)
  }
  written.push(Buffer.from(piece))
  return Buffer.concat(written)
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
