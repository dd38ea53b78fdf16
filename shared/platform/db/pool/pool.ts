import pg from 'pg'
import { prepareSession, type SessionSettings, sessionSettings } from '#shared/platform/db/pool/session-settings.ts'
import type { SlowStatements } from '#shared/platform/db/statements/slow-statements.ts'
import { typeParsers } from '#shared/platform/db/statements/value-parsers.ts'
import type { Part } from '#shared/platform/kernel/process/part.ts'

export interface DatabaseOptions {
  readonly connections: number
  /** Processors of the database; 2 by default. */
  readonly processors?: number
  readonly name: string
  /** Milliseconds after which the database ends a statement. */
  readonly statementTimeoutMs: number
  /** Where slow statements are logged; undefined logs none. */
  readonly slow?: SlowStatements
  /** Additional session settings. */
  readonly settings?: SessionSettings
  /** Notes outages of the database; undefined in commands, which fail instead. */
  readonly part?: Part
}

/** Milliseconds that a statement waits for a lock; then its transaction is rolled back (docs/contract/limits.md#connections). */
const lockTimeoutMs = 3_000

/** Idle-in-transaction timeout errors by the connection that the database ended. */
const idleTimeoutErrors = new WeakMap<pg.ClientBase, unknown>()

/** The idle-in-transaction timeout error by which the database ended this connection; undefined when it did not. */
export const findIdleTimeoutError = (client: pg.ClientBase): unknown => idleTimeoutErrors.get(client)

/** Creates a process's connection pool. */
export function createPool(url: string, options: DatabaseOptions): pg.Pool {
  const settings: SessionSettings = {
    ...sessionSettings,
    statement_timeout: options.statementTimeoutMs,
    lock_timeout: lockTimeoutMs,
    // Statements of a transaction follow within milliseconds unless the process is dead, and others wait for its locks.
    idle_in_transaction_session_timeout: 8_000,
    ...options.settings,
  }
  const pool = new pg.Pool({
    connectionString: url,
    max: options.connections,
    application_name: options.name,
    // A call is answered within 4 s, also while nothing answers (docs/contract/conventions.md#unavailable-parts).
    connectionTimeoutMillis: 3_000,
    // TCP keepalive finds idle connections that the network dropped before they are used.
    keepAlive: true,
    keepAliveInitialDelayMillis: 10_000,
    // A connection keeps about 40 kB for every table that it has used, so its lifetime is limited.
    maxLifetimeSeconds: 900,
    idleTimeoutMillis: 60_000,
    types: typeParsers,
    onConnect: (client) => prepareSession(client, settings),
  })
  // A dead connection is replaced by the pool, and its next statement reports the failure. The pool handles errors of idle connections only:
  // without a client listener, an error between two statements of a transaction would end the process.
  pool.on('error', () => undefined)
  pool.on('connect', (client) => {
    client.on('error', (error) => {
      if ((error as { code?: string }).code === '25P03') idleTimeoutErrors.set(client, error)
    })
  })
  return pool
}
