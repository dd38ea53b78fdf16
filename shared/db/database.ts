import pg from 'pg'
import { isOutOfReach, isTransient, translate } from '#shared/db/conflicts.ts'
import { whileRecovering } from '#shared/db/recovering.ts'
import { QuickClient } from '#shared/db/row-parser.ts'
import { runStatement } from '#shared/db/run-statement.ts'
import { lockTimeoutMs, sessionSettings } from '#shared/db/session-settings.ts'
import { ConnectionShares, type Owner } from '#shared/db/shares.ts'
import { endSilent } from '#shared/db/silence.ts'
import { type SlowStatements, timed } from '#shared/db/slow.ts'
import type { Statement } from '#shared/db/statement.ts'
import { types } from '#shared/db/value-parsers.ts'

/** Where statements run: on any free connection of the pool, or in one transaction. */
export interface Executor {
  /**
   * Runs one statement and returns its rows. Conflicts that the database reports become Problems by their constraint's name; one that a
   * deadlock ended is tried again like a transaction, unless it stands in one. OVERLOADED when no connection is free for 3 s or a lock is not
   * to be had in 3 s.
   */
  query<Row>(statement: Statement): Promise<Row[]>
  /**
   * Runs `work` in a transaction; inside one it joins it. Deadlocks and serialization failures are tried again, up to three times. `last` makes
   * the statement that ends it, in one round trip with the commit: it has to fail where nothing may be committed.
   */
  transaction<T>(work: (tx: Tx) => Promise<T>, last?: (result: T) => Statement): Promise<T>
  /** Runs `hook` once what is being written is committed: at once on the pool, after the commit in a transaction. */
  afterCommit(hook: () => void): void
  /** The same executor for the work of a workspace, whose share of the connections it uses; a transaction keeps the one that it has. */
  of(workspaceId: string): Executor
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

/** The process's pool of connections. Close it once, at the end. */
export class Database implements Executor {
  readonly pool: pg.Pool
  readonly url: string
  readonly #slow: SlowStatements | undefined
  readonly #shares: ConnectionShares
  readonly #stopWatching: () => void

  constructor(url: string, options: DatabaseOptions) {
    this.url = url
    this.#slow = options.slow
    this.#shares = new ConnectionShares(options.connections)
    this.pool = new pg.Pool({
      Client: QuickClient,
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
      types,
      options: `${sessionSettings} ${options.settings ?? ''}`,
    })
    // A connection died; the pool replaces it, and the next statement reports what it meets itself. The pool hears of idle ones only: of
    // one that dies between two statements of a transaction nobody else would hear, and that ends the process.
    this.pool.on('error', () => undefined)
    this.pool.on('connect', (client) => {
      client.on('error', (error) => {
        if ((error as { code?: string }).code === '25P03') idleTooLong.set(client, error)
      })
    })
    this.#stopWatching = endSilent(this.pool, url)
  }

  /** Statements and transactions that wait for a connection. */
  get waiting(): number {
    return this.#shares.waiting
  }

  query<Row>(statement: Statement): Promise<Row[]> {
    return this.#query(null, statement)
  }

  transaction<T>(work: (tx: Tx) => Promise<T>, last?: (result: T) => Statement): Promise<T> {
    return persistently(() => this.#once(null, work, last))
  }

  of(workspaceId: string): Executor {
    const shared: Executor = {
      query: (statement) => this.#query(workspaceId, statement),
      transaction: (work, last) => persistently(() => this.#once(workspaceId, work, last)),
      afterCommit: (hook) => hook(),
      of: (other) => (other === workspaceId ? shared : this.of(other)),
    }
    return shared
  }

  /** Runs what a library made of text and values, as one statement or several without values. */
  async executeSql(text: string, values?: unknown[]): Promise<{ rows: unknown[] }> {
    return this.#withClient(null, (client) => client.query(text, values))
  }

  afterCommit(hook: () => void): void {
    hook()
  }

  async close(): Promise<void> {
    await this.pool.end()
    this.#stopWatching()
  }

  #query<Row>(owner: Owner, statement: Statement): Promise<Row[]> {
    return persistently(async () => {
      try {
        return await timed(this.#slow, statement, () => this.#withClient(owner, (client) => runStatement<Row>(client, statement)))
      } catch (error) {
        throw translate(error)
      }
    })
  }

  async #connect(owner: Owner): Promise<pg.PoolClient> {
    const turn = this.#shares.take(owner)
    if (turn) await turn
    try {
      return await whileRecovering(() => this.pool.connect())
    } catch (error) {
      this.#shares.giveBack(owner)
      throw error
    }
  }

  #release(owner: Owner, client: pg.PoolClient, broken: boolean): void {
    client.release(broken)
    this.#shares.giveBack(owner)
  }

  // `pool.query` would end the connection with every error, a taken value's too: the next statement would wait for a new one, and that one
  // prepares all its statements anew (measured: a creation with a taken value took six times as long as one that succeeds).
  async #withClient<T>(owner: Owner, run: (client: pg.PoolClient) => Promise<T>): Promise<T> {
    const client = await this.#connect(owner)
    let broken = true
    try {
      const result = await run(client)
      broken = false
      return result
    } catch (error) {
      broken = !(error instanceof pg.DatabaseError) || isOutOfReach(error)
      throw error
    } finally {
      this.#release(owner, client, broken)
    }
  }

  // It is opened by its first statement, without a round trip for that alone.
  async #once<T>(owner: Owner, work: (tx: Tx) => Promise<T>, last?: (result: T) => Statement): Promise<T> {
    const client = await this.#connect(owner).catch((error: unknown) => {
      throw translate(error)
    })
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
      throw translate(idleTooLong.get(client) ?? error)
    } finally {
      this.#release(owner, client, broken !== undefined)
    }
  }
}

/** Connections that the database ended because nothing came for too long in an open transaction, with what it said. */
const idleTooLong = new WeakMap<pg.PoolClient, unknown>()

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
    of: () => tx,
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
