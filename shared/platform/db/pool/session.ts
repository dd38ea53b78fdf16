import pg from 'pg'
import type { Executor } from '#shared/platform/db/database.ts'
import { prepareSession } from '#shared/platform/db/pool/session-settings.ts'
import { runStatement } from '#shared/platform/db/statements/run-statement.ts'
import { typeParsers } from '#shared/platform/db/statements/value-parsers.ts'

/** A dedicated connection, outside the pool and outside any transaction. */
export type Session = Pick<Executor, 'query'>

interface SessionOptions {
  readonly name: string
  readonly statementTimeoutMs: number
  readonly lockTimeoutMs: number
}

/**
 * Runs work on a dedicated connection: for statements that cannot run in a transaction or take longer than the pool allows. The end of the
 * session releases its locks. When the signal aborts, the connection is closed, even while a statement runs.
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
  })
  client.on('error', () => undefined)
  const end = () => void client.end().catch(() => undefined)
  try {
    await client.connect()
    await prepareSession(client, { statement_timeout: statementTimeoutMs, lock_timeout: lockTimeoutMs })
    signal.addEventListener('abort', end, { once: true })
    // Otherwise the server continues a statement of a vanished client for hours. Not every platform supports the setting.
    await client.query(`set client_connection_check_interval = '2s'`).catch(() => undefined)
    return await work({ query: (statement) => runStatement(client, statement) })
  } finally {
    signal.removeEventListener('abort', end)
    await client.end().catch(() => undefined)
  }
}
