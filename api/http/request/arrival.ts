import type { IncomingMessage } from 'node:http'
import type { Context } from 'koa'
import { type Problem, problem } from '#shared/platform/kernel/errors.ts'

/** A body of which nothing comes for this long has stalled. */
const stallMs = 30_000

/** How long what nobody reads may flow past, so that its sender comes to read the answer. */
const lingerMs = 2_000

/** A request's body while it arrives. */
export interface BodyArrival {
  /** Rejects with the VALIDATION_ERROR that ends the arrival: it stalled, the connection broke off, or `fail` was called. */
  readonly failed: Promise<never>
  /** What a promise gives, or what ends the arrival if that comes first. */
  readonly unlessFailed: <T>(work: Promise<T>) => Promise<T>
  readonly fail: (reason: Problem) => void
  /** Ends the watch. */
  readonly release: () => void
}

/** Watches a body arrive, so that whoever waits for the rest of it never waits for ever. Release it. */
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
 * What a promise gives, or the reason that is told to those who wait. Promise.race keeps what came first for as long as the other promise
 * lives, here each piece of a body for the whole request: measured, 20 uploads of 100 MB at once grew the process by 1,142 MB.
 */
function unlessEnded<T>(work: Promise<T>, waiting: Set<(reason: unknown) => void>): Promise<T> {
  return new Promise<T>((resolve, reject) => {
    waiting.add(reject)
    work.then(resolve, reject).finally(() => waiting.delete(reject))
  })
}

/**
 * Lets go of a request whose answer is made although the request has not ended: the rest flows past, and the connection ends with it. So it
 * does after a request that asked for another protocol.
 */
export function drainUnreadBody({ req, res }: Context): void {
  // After such a one, Node says nothing of a next request that is no HTTP: its sender would wait until headers are too late.
  if (req.headers.upgrade !== undefined) res.shouldKeepAlive = false
  res.once('finish', () => {
    if (req.complete) return
    req.unpipe()
    req.resume()
    const linger = setTimeout(() => req.socket.destroy(), lingerMs)
    for (const event of ['end', 'close']) req.once(event, () => clearTimeout(linger))
  })
}
