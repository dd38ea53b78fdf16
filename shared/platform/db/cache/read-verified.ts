import { isRetryable, readInAttempts } from '#shared/platform/db/attempts.ts'
import type { Cache } from '#shared/platform/db/cache/cache.ts'
import { Verification } from '#shared/platform/db/cache/verification.ts'
import { isDatabaseUnavailable, isOverloaded } from '#shared/platform/db/database-errors.ts'

/**
 * Reads from what is remembered, and finds out by the way whether that held: the read's own statement says so, or the caches are asked
 * when it had none. When something had to be forgotten, the read, right or failed, is thrown away and done again; so is one that met a
 * retryable failure. For work that changes nothing; anything else refreshes the cache first (`inAttempts`).
 */
export async function readVerified<T>(cache: Cache, read: (verification: Verification | undefined) => Promise<T>): Promise<T> {
  const { dropCount } = cache
  const verification = new Verification(cache)
  const first = await outcomeOf(() => read(verification))
  if ('failure' in first && isRetryable(first.failure)) return readInAttempts(cache, () => read(undefined))
  // A database that is out of reach or overloaded is not asked a second time.
  if ('failure' in first && (isDatabaseUnavailable(first.failure) || isOverloaded(first.failure))) throw first.failure
  if (!verification.isDone) await cache.refresh()
  // Somebody else may have heard of the change that this read missed, so it counts whoever forgot something since the read began.
  if (cache.dropCount !== dropCount) return readInAttempts(cache, () => read(undefined))
  if ('failure' in first) throw first.failure
  return first.value
}

/** What came of it, thrown or not: nobody may hear of either before it is known to hold. */
async function outcomeOf<T>(read: () => Promise<T>): Promise<{ value: T } | { failure: unknown }> {
  try {
    return { value: await read() }
  } catch (failure) {
    return { failure }
  }
}
