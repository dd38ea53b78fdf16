import type { IncomingMessage } from 'node:http'
import type { Context } from 'koa'
import { type Problem, problem } from '#shared/platform/kernel/errors.ts'

/**
 * The least speed of a body: it has stalled when a whole period brings fewer bytes, which are 500 a second. The slowest mobile networks
 * carry more, and a pause of 20 s in between is allowed.
 */
const leastSpeed = { bytes: 15_000, ms: 30_000 }

/**
 * Bounds of reading on after an answer, so that a sender that reads only after it has sent all gets the answer (RFC 9112, section 9.6): in
 * all, without a byte, and in bytes. The bytes let a whole upload of the largest kind pass. A sender that ignores the answer keeps no more
 * than a connection, for as long as one that sends slowly may keep it anyway.
 */
const linger = { ms: 15_000, silenceMs: 5_000, bytes: 128 * 1024 * 1024 }

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

/** Watches a body arrive, so that nobody holds a reader, or memory, by a body that does not end. Call `release` afterwards. */
export function watchArrival(request: IncomingMessage, { bytes, ms } = leastSpeed): BodyArrival {
  const { promise, reject } = Promise.withResolvers<never>()
  const waiting = new Set<(reason: unknown) => void>()
  let isOver = false
  promise.catch((reason: unknown) => {
    isOver = true
    for (const end of waiting) end(reason)
  })
  const broken = (how: string) => reject(problem('VALIDATION_ERROR', `body did not arrive whole: ${how}`))
  let arrived = request.socket.bytesRead
  const watch = setInterval(() => {
    const before = arrived
    arrived = request.socket.bytesRead
    if (!request.complete && arrived - before < bytes) broken(`fewer than ${bytes} bytes of it came in ${ms / 1000} seconds`)
  }, ms)
  // A whole body that was not read before its connection broke is lost too: no `end` follows.
  const closed = () => {
    if (!request.readableEnded) broken('the connection broke off')
  }
  request.once('close', closed)
  if (request.closed) closed()
  return {
    failed: promise,
    unlessFailed: (work) => (isOver ? Promise.race([promise, work]) : unlessEnded(work, waiting)),
    fail: reject,
    release: () => {
      clearInterval(watch)
      request.off('close', closed)
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
 * Reads and drops the rest of a body that is still arriving when its answer is sent, within `linger`, then closes the connection. Also closes
 * the connection after a request that asked for another protocol.
 */
export function drainUnreadBody({ req, res }: Context): void {
  // After an upgrade request, Node reports no error for further input that is not HTTP: its sender would wait for the header timeout.
  if (req.headers.upgrade !== undefined) res.shouldKeepAlive = false
  res.once('prefinish', () => {
    if (!req.complete) readOn(req)
  })
}

function readOn(req: IncomingMessage): void {
  const { socket } = req
  const end = () => socket.destroySoon()
  const last = req.socket.bytesRead + linger.bytes
  const total = setTimeout(() => socket.destroy(), linger.ms)
  const silence = setTimeout(() => socket.destroy(), linger.silenceMs)
  // Node closes a connection that is not kept alive as soon as the answer is written. Bytes that arrive then are answered by a reset, which
  // makes the sender's system drop the answer that it has not read yet.
  Object.defineProperty(socket, 'destroySoon', { configurable: true, value: () => socket.end() })
  const stop = () => {
    clearTimeout(total)
    clearTimeout(silence)
    Reflect.deleteProperty(socket, 'destroySoon')
  }
  socket.once('close', stop)
  req.once('end', () => {
    stop()
    socket.off('close', stop)
    if (socket.writableEnded) end()
  })
  req.unpipe()
  req.on('data', () => {
    silence.refresh()
    if (socket.bytesRead > last) socket.destroy()
  })
  req.resume()
}
