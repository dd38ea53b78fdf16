import pg from 'pg'
import type { Executor } from '#shared/platform/db/database.ts'
import { runStatement } from '#shared/platform/db/statements/run-statement.ts'
import { typeParsers } from '#shared/platform/db/statements/value-parsers.ts'

/** A connection of its own, outside the pool and outside any transaction. */
export type Session = Pick<Executor, 'query'>

interface SessionOptions {
  readonly name: string
  readonly statementTimeoutMs: number
  readonly lockTimeoutMs: number
}

/**
 * Does work on a connection of its own: what must not stand in a transaction, or takes longer than the pool allows. What the session holds,
 * such as advisory locks, is let go with it. When the signal aborts, the connection is closed under the statement that runs.
 */
export async function withSession<T>(
  url: string,
  { name, statementTimeoutMs, lockTimeoutMs }: SessionOptions,
  signal: AbortSignal,
  work: (session: Session) => Promise<T>,
): Promise<T> {
  signal.throwIfAborted()
  const client = new pg.Client({
    connectionString: url,
    application_name: name,
    connectionTimeoutMillis: 5_000,
    keepAlive: true,
    types: typeParsers,
    statement_timeout: statementTimeoutMs,
    lock_timeout: lockTimeoutMs,
  })
  client.on('error', () => undefined)
  const end = () => void client.end().catch(() => undefined)
  try {
    await client.connect()
    signal.addEventListener('abort', end, { once: true })
    // The server would go on with a statement whose client is gone, for hours. Not every platform can look after that.
    await client.query(`set client_connection_check_interval = '2s'`).catch(() => undefined)
    return await work({ query: (statement) => runStatement(client, statement) })
  } finally {
    signal.removeEventListener('abort', end)
    await client.end().catch(() => undefined)
  }
}
