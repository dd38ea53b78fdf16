import { Readable } from 'node:stream'
import type { Context } from 'koa'
import { type LargeAnswer, largeBytes } from '#api/http/reply/admission.ts'
import type { Reply } from '#api/http/reply/reply.ts'
import type { AdmittedAnswer } from '#shared/platform/kernel/process/answer-admission.ts'
import { pauseWhenDue } from '#shared/platform/kernel/process/thread-share.ts'
import type { WorkOwner } from '#shared/platform/kernel/process/work-owner.ts'
import { exceedsJsonBytes, jsonPieces } from '#shared/platform/kernel/values/json-pieces.ts'

/** Bytes of a large answer that are handed over at a time: the next ones follow when the client has taken these. */
const sentBytes = 65_536

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
  // Faster than `ctx.type`, which searches for the type.
  ctx.res.setHeader('Content-Type', 'application/json; charset=utf-8')
  await setBody(ctx, status, written)
}

/**
 * Whether an answer may have more than `largeBytes`: by the bytes that its request has read. A whole list may come from memory instead, so
 * its items are looked at.
 */
const isLarge = (ctx: Context, body: unknown): boolean =>
  (ctx.state.meter?.bytes ?? 0) > largeBytes ||
  (Array.isArray((body as { data?: unknown } | null)?.data) && exceedsJsonBytes(body, largeBytes))

/** Writes JSON without holding the thread: other owners' calls run between its pieces. */
async function writeInPieces(owner: WorkOwner, body: unknown): Promise<readonly Buffer[]> {
  const written: Buffer[] = []
  let piece = ''
  for (const text of jsonPieces(body)) {
    piece += text
    if (piece.length < largeBytes) continue
    written.push(Buffer.from(piece))
    piece = ''
    await pauseWhenDue(owner)
  }
  written.push(Buffer.from(piece))
  return written
}

/** Sets an answer of bytes. A large one is admitted by its bytes, and sent as fast as the client takes it. */
async function setBody(ctx: Context, status: number, written: string | Buffer | readonly Buffer[], isKept = false): Promise<void> {
  if (typeof written === 'string' && written.length <= largeBytes) {
    ctx.status = status
    ctx.body = written
    return
  }
  const pieces: readonly Buffer[] = Array.isArray(written) ? written : [typeof written === 'string' ? Buffer.from(written) : written]
  const bytes = pieces.reduce((sum, { length }) => sum + length, 0)
  const large = bytes > largeBytes ? (ctx.state.largeAnswer as LargeAnswer | undefined) : undefined
  const answer = await (isKept ? large?.admitUnread(bytes) : large?.admitMade(status, bytes))
  ctx.status = status
  ctx.body = answer
    ? Readable.from(handOver(pieces, answer, () => ctx.res.destroy()))
    : pieces.length === 1
      ? pieces[0]
      : Buffer.concat(pieces)
  ctx.length = bytes
}

/** The bytes of an answer, one part after the other. */
function* handOver(pieces: readonly Buffer[], answer: AdmittedAnswer, cut: () => void): Generator<Buffer> {
  answer.beginSending(cut)
  for (const piece of pieces) {
    for (let at = 0; at < piece.length; at += sentBytes) {
      yield piece.subarray(at, at + sentBytes)
      answer.notePiece()
    }
  }
}

/** Answers bytes with their own headers; no bytes for HEAD. */
export async function sendReply(ctx: Context, ordinary: number, { body, headers, status = ordinary, isKept }: Reply): Promise<void> {
  if (typeof body === 'function') {
    ctx.status = status
    ctx.body = ctx.method === 'HEAD' ? '' : await body()
    // Koa turns a null body into 204, whatever the status.
  } else await setBody(ctx, status, body ?? '', isKept)
  ctx.res.removeHeader('Content-Type')
  for (const [name, value] of Object.entries(headers)) ctx.res.setHeader(name, value)
}
