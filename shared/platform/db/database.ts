import pg from 'pg'
import { isDatabaseUnavailable, translateDatabaseError } from '#shared/platform/db/database-errors.ts'
import { cancelStatement } from '#shared/platform/db/pool/cancel-statement.ts'
import { type ConnectionOwner, ConnectionShares } from '#shared/platform/db/pool/connection-shares.ts'
import { HeavyStatementLimiter, type RunningStatement, runWithTimeLimit } from '#shared/platform/db/pool/heavy-statements.ts'
import { createPool, type DatabaseOptions, findIdleTimeoutError } from '#shared/platform/db/pool/pool.ts'
import { retryWhileRecovering } from '#shared/platform/db/pool/retry-while-recovering.ts'
import { endSilentConnections } from '#shared/platform/db/pool/silence-watchdog.ts'
import { runStatement, type TransactionBounds } from '#shared/platform/db/statements/run-statement.ts'
import { runAndLogSlow, type SlowStatements } from '#shared/platform/db/statements/slow-statements.ts'
import type { Statement } from '#shared/platform/db/statements/statement.ts'

/** Where statements run: on any free connection of the pool, or in one transaction. */
export interface Executor {
  /**
   * Runs one statement and returns its rows. Conflicts that the database reports become Problems by their constraint's name. OVERLOADED
   * when a deadlock ended it, when no connection is free for 3 s, or a lock is not to be had in 3 s; `inAttempts` retries.
   */
  query<Row>(statement: Statement): Promise<Row[]>
  /**
   * Runs `work` in a transaction; inside one it joins it. `last` makes the statement that ends it, in one round trip with the commit: it has to fail where nothing may be committed.
   */
  transaction<T>(work: (tx: Tx) => Promise<T>, last?: (result: T) => Statement): Promise<T>
  /** Runs `hook` once what is being written is committed: at once on the pool, after the commit in a transaction. */
  afterCommit(hook: () => void): void
  /** The same executor for the work of a workspace, whose share of the connections it uses; a transaction keeps the one that it has. */
  forWorkspace(workspaceId: string): Executor
}

/** An executor that stands in one open transaction. */
export interface Tx extends Executor {
  readonly inTransaction: true
}

/** Where Citus places each new schema on a worker node, schemas of the platform's own stay on the coordinator; PostgreSQL alone ignores it. */
export const citusCoordinatorOption = '-c citus.enable_schema_based_sharding=off'

/** The process's pool of connections. Close it once, at the end. */
export class Database implements Executor {
  readonly pool: pg.Pool
  readonly url: string
  readonly #slow: SlowStatements | undefined
  readonly #shares: ConnectionShares
  readonly #lanes = new HeavyStatementLimiter()
  readonly #stopWatching: () => void

  constructor(url: string, options: DatabaseOptions) {
    this.url = url
    this.#slow = options.slow
    this.#shares = new ConnectionShares(options.connections)
    this.pool = createPool(url, options)
    this.#stopWatching = endSilentConnections(this.pool, url)
  }

  /** Statements and transactions that wait for a connection. */
  get waiting(): number {
    return this.#shares.waiting
  }

  query<Row>(statement: Statement): Promise<Row[]> {
    return this.#query(null, statement)
  }

  transaction<T>(work: (tx: Tx) => Promise<T>, last?: (result: T) => Statement): Promise<T> {
    return this.#once(null, work, last)
  }

  forWorkspace(workspaceId: string): Executor {
    const shared: Executor = {
      query: (statement) => this.#query(workspaceId, statement),
      transaction: (work, last) => this.#once(workspaceId, work, last),
      afterCommit: (hook) => hook(),
      forWorkspace: (other) => (other === workspaceId ? shared : this.forWorkspace(other)),
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

  async #query<Row>(owner: ConnectionOwner, statement: Statement): Promise<Row[]> {
    try {
      return await runAndLogSlow(this.#slow, statement, () => this.#run<Row>(owner, statement))
    } catch (error) {
      throw translateDatabaseError(error)
    }
  }

  #run<Row>(owner: ConnectionOwner, statement: Statement): Promise<Row[]> {
    const { heavy } = statement
    if (heavy === undefined) return this.#withClient(owner, (client) => runStatement<Row>(client, statement))
    const work = (running: RunningStatement) => this.#withClient(owner, (client) => this.#begin<Row>(client, statement, running), running)
    return owner === null ? runWithTimeLimit(heavy, work) : this.#lanes.run(owner, heavy, work)
  }

  #begin<Row>(client: pg.PoolClient, statement: Statement, running: RunningStatement, edges?: TransactionBounds): Promise<Row[]> {
    running.begin(() => cancelStatement(this.url, client))
    return runStatement<Row>(client, statement, edges)
  }

  async #connect(owner: ConnectionOwner): Promise<pg.PoolClient> {
    const turn = this.#shares.acquire(owner)
    if (turn) await turn
    try {
      return await retryWhileRecovering(() => this.pool.connect())
    } catch (error) {
      this.#shares.release(owner)
      throw error
    }
  }

  #release(owner: ConnectionOwner, client: pg.PoolClient, broken: boolean): void {
    client.release(broken)
    this.#shares.release(owner)
  }

  // `pool.query` would end the connection with every error, a taken value's too: the next statement would wait for a new one, and that one
  // prepares all its statements anew (measured: a creation with a taken value took six times as long as one that succeeds).
  async #withClient<T>(owner: ConnectionOwner, run: (client: pg.PoolClient) => Promise<T>, running?: RunningStatement): Promise<T> {
    const client = await this.#connect(owner)
    let broken = true
    try {
      const result = await run(client)
      broken = false
      return result
    } catch (error) {
      broken = !(error instanceof pg.DatabaseError) || isDatabaseUnavailable(error)
      throw error
    } finally {
      this.#release(owner, client, broken || running?.isCancelled === true)
    }
  }

  // It is opened by its first statement, without a round trip for that alone.
  async #once<T>(owner: ConnectionOwner, work: (tx: Tx) => Promise<T>, last?: (result: T) => Statement): Promise<T> {
    const client = await this.#connect(owner).catch((error: unknown) => {
      throw translateDatabaseError(error)
    })
    const hooks: (() => void)[] = []
    let broken: unknown
    const run: Run = (statement, commits) =>
      runAndLogSlow(this.#slow, statement, () => {
        const edges = { opens: isIdle(client), commits }
        if (statement.heavy === undefined) return runStatement(client, statement, edges)
        return runWithTimeLimit(statement.heavy, (running) => this.#begin(client, statement, running, edges))
      })
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
      throw translateDatabaseError(findIdleTimeoutError(client) ?? error)
    } finally {
      this.#release(owner, client, broken !== undefined)
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
        throw translateDatabaseError(error)
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
    forWorkspace: () => tx,
  }
  return tx
}
