import pg from 'pg'
import { isOutOfReach, translate } from '#shared/db/conflicts.ts'
import { whileRecovering } from '#shared/db/recovering.ts'
import { QuickClient } from '#shared/db/row-parser.ts'
import { runStatement } from '#shared/db/run-statement.ts'
import { endSilent } from '#shared/db/silence.ts'
import { type SlowStatements, timed } from '#shared/db/slow.ts'
import type { Statement } from '#shared/db/statement.ts'
import { types } from '#shared/db/value-parsers.ts'

/** Where statements run: on any free connection of the pool, or in one transaction. */
export interface Executor {
  /**
   * Runs one statement and returns its rows. Conflicts that the database reports become Problems by their constraint's name; one that a
   * deadlock ended is tried again like a transaction, unless it stands in one.
   */
  query<Row>(statement: Statement): Promise<Row[]>
  /**
   * Runs `work` in a transaction; inside one it joins it. Deadlocks and serialization failures are tried again, up to three times. `last` makes
   * the statement that ends it, in one round trip with the commit: it has to fail where nothing may be committed.
   */
  transaction<T>(work: (tx: Tx) => Promise<T>, last?: (result: T) => Statement): Promise<T>
  /** Runs `hook` once what is being written is committed: at once on the pool, after the commit in a transaction. */
  afterCommit(hook: () => void): void
}

/** An executor that stands in one open transaction. */
export interface Tx extends Executor {
  readonly inTransaction: true
}

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

/** Where Citus places each new schema on a worker node, schemas of the platform's own stay on the coordinator; PostgreSQL alone ignores it. */
export const onCoordinator = '-c citus.enable_schema_based_sharding=off'

/** The last three let the database notice within a minute that we are gone without a word: its own default is two hours. */
const sessionSettings = [
  ...['TimeZone=UTC', 'DateStyle=ISO', 'IntervalStyle=iso_8601', 'jit=off'],
  ...['tcp_keepalives_idle=30', 'tcp_keepalives_interval=10', 'tcp_keepalives_count=3'],
]
  .map((setting) => `-c ${setting}`)
  .join(' ')

/** The process's pool of connections. Close it once, at the end. */
export class Database implements Executor {
  readonly pool: pg.Pool
  readonly url: string
  readonly #slow: SlowStatements | undefined
  readonly #stopWatching: () => void

  constructor(url: string, options: DatabaseOptions) {
    this.url = url
    this.#slow = options.slow
    this.pool = new pg.Pool({
      Client: QuickClient,
      connectionString: url,
      max: options.connections,
      application_name: options.name,
      connectionTimeoutMillis: 5_000,
      statement_timeout: options.statementTimeoutMs,
      // Between two statements of a transaction lie milliseconds, unless its process is gone; others wait for what it holds.
      idle_in_transaction_session_timeout: 8_000,
      // Connections that rest are asked after by the system, so that one which was forgotten on the way is found before it is used.
      keepAlive: true,
      keepAliveInitialDelayMillis: 10_000,
      // A connection keeps about 40 kB for every table that it has touched, so it is retired after a while.
      maxLifetimeSeconds: 900,
      idleTimeoutMillis: 60_000,
      types,
      options: `${sessionSettings} ${options.settings ?? ''}`,
    })
    // A connection died; the pool replaces it, and the next statement reports what it meets itself. The pool hears of idle ones only: of
    // one that dies between two statements of a transaction nobody else would hear, and that ends the process.
    const ignore = () => undefined
    this.pool.on('error', ignore)
    this.pool.on('connect', (client) => client.on('error', ignore))
    this.#stopWatching = endSilent(this.pool, url)
  }

  query<Row>(statement: Statement): Promise<Row[]> {
    return persistently(async () => {
      try {
        return await timed(this.#slow, statement, () => this.#queryOnce<Row>(statement))
      } catch (error) {
        throw translate(error)
      }
    })
  }

  transaction<T>(work: (tx: Tx) => Promise<T>, last?: (result: T) => Statement): Promise<T> {
    return persistently(() => this.#once(work, last))
  }

  afterCommit(hook: () => void): void {
    hook()
  }

  async close(): Promise<void> {
    await this.pool.end()
    this.#stopWatching()
  }

  // `pool.query` would end the connection with every error, a taken value's too: the next statement would wait for a new one, and that one
  // prepares all its statements anew (measured: a creation with a taken value took six times as long as one that succeeds).
  async #queryOnce<Row>(statement: Statement): Promise<Row[]> {
    const client = await whileRecovering(() => this.pool.connect())
    let broken = true
    try {
      const rows = await runStatement<Row>(client, statement)
      broken = false
      return rows
    } catch (error) {
      broken = !(error instanceof pg.DatabaseError) || isOutOfReach(error)
      throw error
    } finally {
      client.release(broken)
    }
  }

  // It is opened by its first statement, without a round trip for that alone.
  async #once<T>(work: (tx: Tx) => Promise<T>, last?: (result: T) => Statement): Promise<T> {
    const client = await whileRecovering(() => this.pool.connect())
    const hooks: (() => void)[] = []
    let broken: unknown
    const run: Run = (statement, commits) =>
      timed(this.#slow, statement, () => runStatement(client, statement, { opens: isIdle(client), commits }))
    try {
      const result = await work(transactionOf(run, hooks))
      if (last) await run(last(result), true)
      else if (!isIdle(client)) await client.query('commit')
      for (const hook of hooks) hook()
      return result
    } catch (error) {
      await client.query('rollback').catch((cause: unknown) => {
        broken = cause
      })
      throw translate(error)
    } finally {
      client.release(broken !== undefined)
    }
  }
}

/** Whether the database has said last that no transaction is open. */
const isIdle = (client: pg.PoolClient): boolean => client.getTransactionStatus() === 'I'

/** Runs a statement of a transaction. */
type Run = <Row>(statement: Statement, commits?: boolean) => Promise<Row[]>

function transactionOf(run: Run, hooks: (() => void)[]): Tx {
  const tx: Tx = {
    inTransaction: true,
    query: async <Row>(statement: Statement) => {
      try {
        return await run<Row>(statement)
      } catch (error) {
        throw translate(error)
      }
    },
    transaction: async (work, last) => {
      const result = await work(tx)
      if (last) await tx.query(last(result))
      return result
    },
    afterCommit: (hook) => {
      hooks.push(hook)
    },
  }
  return tx
}

/** Work that leaves nothing behind when it fails is tried again where the database ended it to let others go on. */
async function persistently<T>(work: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await work()
    } catch (error) {
      if (attempt >= 3 || !isTransient(error)) throw error
    }
  }
}

const transient = new Set(['40001', '40P01'])
const isTransient = (error: unknown): boolean => transient.has((error as { code?: string } | null)?.code ?? '')
