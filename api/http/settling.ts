import type { Cache } from '#shared/db/cache.ts'

/**
 * Reads while the caches are asked whether they still hold: the read takes no longer for it. When they had to forget something meanwhile,
 * the read, right or failed, is thrown away and done again. For work that changes nothing; anything else asks first.
 */
export async function readWhileSettling<T>(cache: Cache, read: () => Promise<T>): Promise<T> {
  const { drops } = cache
  const [first, settled] = await Promise.allSettled([read(), cache.settle()])
  if (settled.status === 'rejected') throw settled.reason
  if (cache.drops !== drops) return read()
  if (first.status === 'rejected') throw first.reason
  return first.value
}
