import { EgressFailure } from '#shared/platform/egress/failure.ts'

/** One deadline for a whole exchange: resolving, connecting, sending and receiving. */
interface Deadline {
  readonly signal: AbortSignal
  /** The error to throw for an error of the exchange: the timeout or the caller's abort reason where one of them came first. */
  readonly explain: (error: unknown) => unknown
  /** Settles with the work, or rejects with the abort reason when that comes first. */
  readonly race: <T>(work: Promise<T>) => Promise<T>
  readonly stop: () => void
}

/** Starts a deadline in milliseconds; it also ends when the caller's signal aborts. */
export function startDeadline(timeoutMs: number, callerSignal?: AbortSignal): Deadline {
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
    return new EgressFailure('unreachable', readMessage(error), error)
  }
  const ended = new Promise<never>((_, reject) => {
    if (signal.aborted) reject(signal.reason)
    signal.addEventListener('abort', () => reject(signal.reason), { once: true })
  })
  ended.catch(() => undefined)
  return {
    signal,
    explain,
    race: (work) => Promise.race([work, ended]),
    stop() {
      clearTimeout(timer)
      callerSignal?.removeEventListener('abort', abortWithCaller)
    },
  }
}

/** Reads an error's message. Connecting to several addresses fails with an AggregateError, which has none of its own. */
function readMessage(error: unknown): string {
  if (error instanceof AggregateError && error.errors.length > 0) return readMessage(error.errors[0])
  const { message, code } = error as { message?: unknown; code?: unknown }
  return String(message || code || 'The connection failed')
}
