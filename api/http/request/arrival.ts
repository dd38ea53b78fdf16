import type { IncomingMessage } from 'node:http'
import type { Context } from 'koa'
import { type Problem, problem } from '#shared/platform/kernel/errors.ts'

/** A body has stalled when no byte arrives for this long. */
const stallMs = 30_000

/** How long an unread body is drained, so that its sender gets to read the answer. */
const lingerMs = 2_000

/** A request's body while it arrives. */
export interface BodyArrival {
  /** Rejects with the VALIDATION_ERROR that ends the arrival: it stalled, the connection broke off, or `fail` was called. */
  readonly failed: Promise<never>
  /** Settles as the given promise does, or rejects as `failed` does if that comes first. */
  readonly unlessFailed: <T>(work: Promise<T>) => Promise<T>
  readonly fail: (reason: Problem) => void
  /** Stops watching. */
  readonly release: () => void
}

/** Watches a body arrive, so that no reader waits for ever for the rest. Call `release` afterwards. */
export function watchArrival(request: IncomingMessage, afterMs = stallMs): BodyArrival {
  const { promise, reject } = Promise.withResolvers<never>()
  const waiting = new Set<(reason: unknown) => void>()
  let isOver = false
  promise.catch((reason: unknown) => {
    isOver = true
    for (const end of waiting) end(reason)
  })
  const broken = (how: string) => reject(problem('VALIDATION_ERROR', `body did not arrive whole: ${how}`))
  const stalled = () => broken(`nothing of it came for ${afterMs / 1000} seconds`)
  const closed = () => {
    if (!request.complete) broken('the connection broke off')
  }
  request.setTimeout(afterMs, stalled)
  request.once('close', closed)
  if (request.closed) closed()
  return {
    failed: promise,
    unlessFailed: (work) => (isOver ? Promise.race([promise, work]) : unlessEnded(work, waiting)),
    fail: reject,
    release: () => {
      request.setTimeout(0).off('timeout', stalled).off('close', closed)
    },
  }
}

/**
 * Settles as the given promise does, or rejects when its entry in `waiting` is called. Promise.race would keep each result in memory for as
 * long as the other promise is pending, here every piece of a body until the request ends: measured, 20 uploads of 100 MB at once grew the
 * process by 1,142 MB.
 */
function unlessEnded<T>(work: Promise<T>, waiting: Set<(reason: unknown) => void>): Promise<T> {
  return new Promise<T>((resolve, reject) => {
    waiting.add(reject)
    work.then(resolve, reject).finally(() => waiting.delete(reject))
  })
}

/**
 * Drains the rest of a body that is still arriving when its answer is sent, then closes the connection. Also closes the connection after a
 * request that asked for another protocol.
 */
export function drainUnreadBody({ req, res }: Context): void {
  // After an upgrade request, Node reports no error for further input that is not HTTP: its sender would wait for the header timeout.
  if (req.headers.upgrade !== undefined) res.shouldKeepAlive = false
  res.once('finish', () => {
    if (req.complete) return
    req.unpipe()
    req.resume()
    const linger = setTimeout(() => req.socket.destroy(), lingerMs)
    for (const event of ['end', 'close']) req.once(event, () => clearTimeout(linger))
  })
}
