import { isRetryable, readInAttempts } from '#shared/platform/db/attempts.ts'
import type { Cache } from '#shared/platform/db/cache/cache.ts'
import { Verification } from '#shared/platform/db/cache/verification.ts'
import { isDatabaseUnavailable, isOverloaded } from '#shared/platform/db/database-errors.ts'

/**
 * Reads with cached data and verifies the cache in the read's own first prepared statement that finds a row, or by a refresh when none did.
 * When something was dropped from the cache, the result or failure is discarded and the read runs again; so does a retryable failure. Only
 * for work that writes nothing; writes refresh the cache first (`inAttempts`).
 */
export async function readVerified<T>(cache: Cache, read: (verification: Verification | undefined) => Promise<T>): Promise<T> {
  const { dropCount } = cache
  const verification = new Verification(cache)
  const first = await capture(() => read(verification))
  if ('failure' in first && isRetryable(first.failure)) return readInAttempts(cache, () => read(undefined))
  // An unreachable or overloaded database is not asked a second time.
  if ('failure' in first && (isDatabaseUnavailable(first.failure) || isOverloaded(first.failure))) throw first.failure
  if (!verification.isDone) await cache.refresh()
  // A concurrent request may have received the change that this read missed, so every drop since the read began counts.
  if (cache.dropCount !== dropCount) return readInAttempts(cache, () => read(undefined))
  if ('failure' in first) throw first.failure
  return first.value
}

/** Returns the result or the failure as a value: neither may be reported before the cache is verified. */
async function capture<T>(read: () => Promise<T>): Promise<{ value: T } | { failure: unknown }> {
  try {
    return { value: await read() }
  } catch (failure) {
    return { failure }
  }
}
