import { EgressFailure } from '#shared/egress/failure.ts'

/** One deadline for a whole exchange: resolving, connecting, sending and receiving. */
export interface Clock {
  readonly signal: AbortSignal
  /** Maps an error of the exchange to the error to throw: the timeout if the deadline passed, the caller's reason if the caller aborted. */
  readonly explain: (error: unknown) => unknown
  /** Resolves with the work's result; rejects with the signal's reason if the deadline or the caller's abort comes first. */
  readonly race: <T>(work: Promise<T>) => Promise<T>
  readonly stop: () => void
}

/** Starts a deadline in milliseconds. The caller's signal ends it early. */
export function startClock(timeoutMs: number, callerSignal?: AbortSignal): Clock {
  const controller = new AbortController()
  const failure = new EgressFailure('timeout', `No complete answer within ${timeoutMs / 1_000} s`)
  const timer = setTimeout(() => controller.abort(failure), timeoutMs)
  const abortWithCaller = () => controller.abort(callerSignal?.reason)
  if (callerSignal?.aborted) abortWithCaller()
  callerSignal?.addEventListener('abort', abortWithCaller, { once: true })
  const { signal } = controller
  const explain = (error: unknown): unknown => {
    if (signal.aborted) return signal.reason
    if (error instanceof EgressFailure) return error
    return new EgressFailure('unreachable', messageOf(error), error)
  }
  const aborted = new Promise<never>((_, reject) => {
    if (signal.aborted) reject(signal.reason)
    signal.addEventListener('abort', () => reject(signal.reason), { once: true })
  })
  aborted.catch(() => undefined)
  return {
    signal,
    explain,
    race: (work) => Promise.race([work, aborted]),
    stop() {
      clearTimeout(timer)
      callerSignal?.removeEventListener('abort', abortWithCaller)
    },
  }
}

/** Returns an error's message. A connection attempt at several addresses fails with an AggregateError, which has no message. */
function messageOf(error: unknown): string {
  if (error instanceof AggregateError && error.errors.length > 0) return messageOf(error.errors[0])
  const { message, code } = error as { message?: unknown; code?: unknown }
  return String(message || code || 'The connection failed')
}
