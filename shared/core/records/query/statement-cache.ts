import { memoizeByObject } from '#shared/core/policy/memoize.ts'
import type { Columns, Params } from '#shared/platform/db/statements/sql-types.ts'
import { asUnprepared, type BuiltStatement, type MakeStatement } from '#shared/platform/db/statements/statement.ts'

/** A cached statement of a search, for later searches with the same shape. */
interface CachedStatement {
  readonly built: unknown
  /** Characters of its key and text. */
  readonly length: number
  uses: number
}

/**
 * Characters that the cache of a process holds at most; the least recently used statement is evicted first. Bounded because each caller's
 * conditions, filters and order make a statement of their own.
 */
const maxLength = 2_000_000

/**
 * From this use on a search is prepared. PostgreSQL keeps a prepared statement on every connection that has run it, and plans it five
 * times before it keeps a plan: preparing a rare statement costs memory and saves nothing.
 */
export const usesBeforePrepared = 10

let cachedLength = 0
const cache = new Map<string, CachedStatement>()

let lastNumber = 0
/** The number of an access object, unique in the process. */
export const accessNumberOf = memoizeByObject((_access: object) => ++lastNumber)

/**
 * The statement of a search, built once per `access` object and shape while it stays in the cache. From `usesBeforePrepared` uses on it is
 * prepared; before, PostgreSQL plans it for its values each time.
 */
export function cachedSearchStatement<P extends Params, C extends Columns>(
  access: object,
  shape: string,
  make: () => BuiltStatement<P, C>,
): MakeStatement<P, C> {
  const key = `${accessNumberOf(access)} ${shape}`
  const found = cache.get(key)
  if (found) {
    // Moves the entry to the end, so that the map is ordered by last use.
    cache.delete(key)
    cache.set(key, found)
    found.uses += 1
    const known = found.built as BuiltStatement<P, C>
    return found.uses < usesBeforePrepared ? withoutPreparing(known) : known
  }
  const built = make()
  const length = key.length + built.text.length
  cache.set(key, { built, length, uses: 1 })
  cachedLength += length
  for (const [oldest, { length }] of cache) {
    if (cachedLength <= maxLength) break
    cache.delete(oldest)
    cachedLength -= length
  }
  return withoutPreparing(built)
}

const withoutPreparing =
  <P extends Params, C extends Columns>(built: BuiltStatement<P, C>): MakeStatement<P, C> =>
  (...given) =>
    asUnprepared(built(...given))
