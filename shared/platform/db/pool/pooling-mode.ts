import type { Cache } from '#shared/platform/db/cache/cache.ts'
import type { Executor } from '#shared/platform/db/database.ts'
import { integer } from '#shared/platform/db/statements/sql-types.ts'
import { statement } from '#shared/platform/db/statements/statement.ts'

const readBackend = statement('db.readBackend', 'select pg_backend_pid() as pid', { params: {}, columns: { pid: integer.notNull } })

/**
 * Opens the cache's connection, and throws when a pooler lends sessions for single transactions: the cache's connection then loses its server
 * process while a transaction is open on another one, or shares it (docs/decisions/poolers.md).
 */
export async function requireOwnSessions(cache: Pick<Cache, 'readBackend'>, database: Executor): Promise<void> {
  const before = await cache.readBackend()
  const [other, after] = await database.transaction(
    async (tx) => [(await tx.query(readBackend()))[0]?.pid, await cache.readBackend()] as const,
  )
  if (before === after && before !== other) return
  throw new Error(
    'DATABASE_URL leads through a pooler in transaction mode. Kontor prepares statements, listens for signals and sets time limits in its ' +
      'sessions: let the pooler use session mode (pool_mode = session in PgBouncer), or name the database itself',
  )
}
