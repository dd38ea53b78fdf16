import { EgressFailure } from '#shared/egress/failure.ts'

/** One clock over a whole exchange: resolving, connecting, sending and receiving. */
export interface Clock {
  readonly signal: AbortSignal
  /** What to throw for an error of the exchange: the clock's end if it has ended, the caller's own reason if they gave up. */
  readonly explain: (error: unknown) => unknown
  /** The result, or the failure of the clock when that is earlier. */
  readonly race: <T>(work: Promise<T>) => Promise<T>
  readonly stop: () => void
}

/** Starts a clock of so many milliseconds, which also ends when the caller's signal does. */
export function startClock(timeoutMs: number, given?: AbortSignal): Clock {
  const ending = new AbortController()
  const failure = new EgressFailure('timeout', `No complete answer within ${timeoutMs / 1_000} s`)
  const timer = setTimeout(() => ending.abort(failure), timeoutMs)
  const follow = () => ending.abort(given?.reason)
  if (given?.aborted) follow()
  given?.addEventListener('abort', follow, { once: true })
  const { signal } = ending
  const explain = (error: unknown): unknown => {
    if (signal.aborted) return signal.reason
    if (error instanceof EgressFailure) return error
    return new EgressFailure('unreachable', wordsOf(error), error)
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
      given?.removeEventListener('abort', follow)
    },
  }
}

/** A connection that is tried at several addresses fails with an error of errors, which has no words of its own. */
function wordsOf(error: unknown): string {
  if (error instanceof AggregateError && error.errors.length > 0) return wordsOf(error.errors[0])
  const { message, code } = error as { message?: unknown; code?: unknown }
  return String(message || code || 'The connection failed')
}
