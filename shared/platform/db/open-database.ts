import { setTimeout } from 'node:timers/promises'
import { Cache } from '#shared/platform/db/cache/cache.ts'
import { Database } from '#shared/platform/db/database.ts'
import { isDatabaseFull, isDatabaseUnavailable } from '#shared/platform/db/database-errors.ts'
import type { DatabaseOptions } from '#shared/platform/db/pool/pool.ts'
import { requireOwnSessions } from '#shared/platform/db/pool/pooling-mode.ts'
import { Problem } from '#shared/platform/kernel/errors.ts'

/** Milliseconds between two tries to open the first connections of a process. */
const retryMs = 1_000

/**
 * Opens a process's pool, its cache and the cache's connection. With `waits` it waits while the database is away or has no connection left,
 * instead of ending in a loop of restarts. Throws on any other failure, such as a wrong password or a pooler in transaction mode.
 */
export async function openDatabase(
  url: string,
  options: DatabaseOptions,
  waits: boolean,
): Promise<{ readonly database: Database; readonly cache: Cache; readonly close: () => Promise<void> }> {
  const database = new Database(url, options)
  const cache = new Cache(url, options.name, options.part)
  const close = async () => {
    await cache.close()
    await database.close()
  }
  try {
    while (!(await isOpened(cache, database, waits))) await setTimeout(retryMs)
    return { database, cache, close }
  } catch (error) {
    await close()
    throw error
  }
}

async function isOpened(cache: Cache, database: Database, waits: boolean): Promise<boolean> {
  try {
    await requireOwnSessions(cache, database)
    return true
  } catch (error) {
    const cause = error instanceof Problem ? error.cause : error
    if (waits && (isDatabaseUnavailable(cause) || isDatabaseFull(cause))) return false
    if (!(error instanceof Problem)) throw error
    throw new Error(`The database is out of reach: ${(cause as Error).message || (cause as { code?: string }).code}`, { cause })
  }
}
