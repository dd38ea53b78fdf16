import type { Cache } from '#shared/platform/db/cache/cache.ts'
import type { Executor } from '#shared/platform/db/database.ts'
import { isOutdatedTypeMetadata, isTransient } from '#shared/platform/db/database-errors.ts'
import { type Tracked, trackWrites } from '#shared/platform/db/track-writes.ts'

/** How often work is begun in all. */
const maxAttempts = 5

/**
 * The only list of failures after which work is done again at once: the database ended it in favour of others (a deadlock, a serialization
 * failure), or its SQL named a column or table that a change of a record type has taken away.
 */
export const isRetryable = (error: unknown): boolean =>
  (isTransient(error) || isOutdatedTypeMetadata(error)) && !givenUp.has(error as object)

/** Failures that were retried already: work around it does not retry them again. */
const givenUp = new WeakSet<object>()

interface AttemptOptions {
  /** Whether the caller has refreshed the cache just now. */
  readonly isFresh?: boolean
  readonly atMost?: number
}

/**
 * Does work that writes, from a refreshed cache. After a retryable failure it is done again, up to five times in all, unless it has
 * committed something since it began or since its last checkpoint (docs/decisions/one-retry.md). Its statements go through `tracked.db`.
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

/** The same for work that only reads. */
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
      if (attempt >= atMost || hasWritten()) {
        givenUp.add(error as object)
        throw error
      }
      await cache.refresh()
    }
  }
}
