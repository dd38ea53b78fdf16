import pg from 'pg'
import { lockTimeoutMs, sessionSettings } from '#shared/platform/db/pool/session-settings.ts'
import type { SlowStatements } from '#shared/platform/db/statements/slow-statements.ts'
import { typeParsers } from '#shared/platform/db/statements/value-parsers.ts'

export interface DatabaseOptions {
  readonly connections: number
  readonly name: string
  /** Milliseconds after which the database ends a statement. */
  readonly statementTimeoutMs: number
  /** Hears of statements that take long; nobody does without. */
  readonly slow?: SlowStatements
  /** Settings of its sessions beside those that all have: `-c name=value`. */
  readonly settings?: string
}

/** Connections that the database ended because nothing came for too long in an open transaction, with what it said. */
const idleTooLong = new WeakMap<pg.ClientBase, unknown>()

/** What the database said when it ended a connection because nothing came for too long in an open transaction; undefined where it did not. */
export const findIdleTimeoutError = (client: pg.ClientBase): unknown => idleTooLong.get(client)

/** Makes the pool of a process's connections. */
export function createPool(url: string, options: DatabaseOptions): pg.Pool {
  const pool = new pg.Pool({
    connectionString: url,
    max: options.connections,
    application_name: options.name,
    connectionTimeoutMillis: 5_000,
    statement_timeout: options.statementTimeoutMs,
    lock_timeout: lockTimeoutMs,
    // Between two statements of a transaction lie milliseconds, unless its process is gone; others wait for what it holds.
    idle_in_transaction_session_timeout: 8_000,
    // Connections that rest are asked after by the system, so that one which was forgotten on the way is found before it is used.
    keepAlive: true,
    keepAliveInitialDelayMillis: 10_000,
    // A connection keeps about 40 kB for every table that it has touched, so it is retired after a while.
    maxLifetimeSeconds: 900,
    idleTimeoutMillis: 60_000,
    types: typeParsers,
    options: `${sessionSettings} ${options.settings ?? ''}`,
  })
  // A connection died; the pool replaces it, and the next statement reports what it meets itself. The pool hears of idle ones only: of
  // one that dies between two statements of a transaction nobody else would hear, and that ends the process.
  pool.on('error', () => undefined)
  pool.on('connect', (client) => {
    client.on('error', (error) => {
      if ((error as { code?: string }).code === '25P03') idleTooLong.set(client, error)
    })
  })
  return pool
}
