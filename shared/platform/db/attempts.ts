import type { Cache } from '#shared/platform/db/cache/cache.ts'
import type { Executor } from '#shared/platform/db/database.ts'
import { isOutdatedTypeMetadata, isTransient, overloadedProblem } from '#shared/platform/db/database-errors.ts'
import { type Tracked, trackWrites } from '#shared/platform/db/track-writes.ts'

/** The most attempts of one piece of work, including the first. */
const maxAttempts = 5

/**
 * Whether failed work may be retried at once: after a deadlock, a serialization failure, or SQL that names a column or table which a change
 * of a record type removed. No other place decides this. False for a failure after which `inAttempts` gave up.
 */
export const isRetryable = (error: unknown): boolean =>
  (isTransient(error) || isOutdatedTypeMetadata(error)) && !exhausted.has(error as object)

/**
 * Failures after which an `inAttempts` gave up, because of its last attempt or because something was committed: an outer `inAttempts` must
 * not retry them.
 */
const exhausted = new WeakSet<object>()

interface AttemptOptions {
  /** Whether the caller has just refreshed the cache. */
  readonly isFresh?: boolean
  readonly atMost?: number
}

/**
 * Runs work that writes, after refreshing the cache. After a retryable failure the work starts again, up to five attempts, unless it has
 * committed something since it began or since its last checkpoint; a new checkpoint starts the count of attempts again
 * (docs/decisions/one-retry.md). The last failure is thrown, as OVERLOADED where a record type had changed. The work must run its statements by `tracked.db`.
 */
export function inAttempts<T>(
  cache: Cache,
  db: Executor,
  work: (tracked: Tracked) => Promise<T>,
  options: AttemptOptions = {},
): Promise<T> {
  const tracked = trackWrites(db)
  return retry(cache, () => work(tracked), tracked, options)
}

/** Returns the failure to throw when no further attempt is made. Outdated type metadata becomes OVERLOADED, since a later retry may succeed. */
function giveUp(error: unknown): unknown {
  if (isOutdatedTypeMetadata(error))
    return overloadedProblem('The record type changed while the work ran; try again soon', { cause: error, expected: false })
  exhausted.add(error as object)
  return error
}

/** Runs work that only reads: refreshes the cache before it and retries it as `inAttempts` does. */
export const readInAttempts = <T>(cache: Cache, read: () => Promise<T>): Promise<T> => retry(cache, read, nothingWritten, {})

const nothingWritten = { hasWritten: () => false, takeProgress: () => false }

async function retry<T>(
  cache: Cache,
  work: () => Promise<T>,
  { hasWritten, takeProgress }: Pick<Tracked, 'hasWritten' | 'takeProgress'>,
  { isFresh = false, atMost = maxAttempts }: AttemptOptions,
): Promise<T> {
  if (!isFresh) await cache.refresh()
  for (let attempt = 1; ; attempt++) {
    try {
      return await work()
    } catch (error) {
      if (takeProgress()) attempt = 1
      if (!isRetryable(error)) throw error
      if (attempt >= atMost || hasWritten()) throw giveUp(error)
      await cache.refresh()
    }
  }
}
