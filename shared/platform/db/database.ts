import pg from 'pg'
import { isDatabaseUnavailable, translateDatabaseError } from '#shared/platform/db/database-errors.ts'
import { type ConnectionOwner, ConnectionShares, connectionOwner } from '#shared/platform/db/pool/connection-shares.ts'
import {
  cancelStatement,
  HeavyStatementLimiter,
  type RunningStatement,
  runWithTimeLimit,
} from '#shared/platform/db/pool/heavy-statements.ts'
import { createPool, type DatabaseOptions, findIdleTimeoutError } from '#shared/platform/db/pool/pool.ts'
import { retryWhileRecovering } from '#shared/platform/db/pool/retry-while-recovering.ts'
import { endSilentConnections } from '#shared/platform/db/pool/silence-watchdog.ts'
import { runStatement, type TransactionBounds } from '#shared/platform/db/statements/run-statement.ts'
import { runAndLogSlow, type SlowStatements } from '#shared/platform/db/statements/slow-statements.ts'
import type { Statement } from '#shared/platform/db/statements/statement.ts'

/** Where statements run: on any free connection of the pool, or in one transaction. */
export interface Executor {
  /**
   * Runs one statement and returns its rows. Constraint violations become Problems by the constraint's name. Throws OVERLOADED on a
   * deadlock, when no connection is free for 3 s, or when a lock is not acquired in 3 s; `inAttempts` retries.
   */
  query<Row>(statement: Statement<Row>): Promise<Row[]>
  /**
   * Runs `work` in a transaction; inside a transaction it joins that one. `last` creates the final statement from the result of `work`. It
   * runs in one round trip with the commit, so nobody sees its rows before the commit: where nothing may be committed, the statement itself
   * must fail.
   */
  transaction<T>(work: (tx: Tx) => Promise<T>, last?: (result: T) => Statement): Promise<T>
  /** Runs `hook` after the commit of the transaction; outside one, at once. */
  afterCommit(hook: () => void): void
  /**
   * The same executor with its connections counted for a workspace, and for the share of its owner's workspaces; a transaction keeps its
   * connection.
   */
  forWorkspace(workspaceId: string, shareId?: string): Executor
}

/** An executor in one open transaction. */
export interface Tx extends Executor {
  readonly inTransaction: true
}

/** Keeps the platform's own schemas on the coordinator where Citus places new schemas on worker nodes. Plain PostgreSQL ignores it. */
export const citusCoordinatorOption = '-c citus.enable_schema_based_sharding=off'

/** The process's connection pool. Close it when the process stops. */
export class Database implements Executor {
  readonly pool: pg.Pool
  readonly url: string
  readonly #slow: SlowStatements | undefined
  readonly #shares: ConnectionShares
  readonly #heavyStatements = new HeavyStatementLimiter()
  readonly #stopWatching: () => void

  constructor(url: string, options: DatabaseOptions) {
    this.url = url
    this.#slow = options.slow
    this.#shares = new ConnectionShares(options.connections)
    this.pool = createPool(url, options)
    this.#stopWatching = endSilentConnections(this.pool, url)
  }

  /** The number of statements and transactions that wait for a connection. */
  get waiting(): number {
    return this.#shares.waiting
  }

  query<Row>(statement: Statement<Row>): Promise<Row[]> {
    return this.#query(null, statement)
  }

  transaction<T>(work: (tx: Tx) => Promise<T>, last?: (result: T) => Statement): Promise<T> {
    return this.#runTransaction(null, work, last)
  }

  forWorkspace(workspaceId: string, shareId = workspaceId): Executor {
    const owner = connectionOwner(workspaceId, shareId)
    const shared: Executor = {
      query: (statement) => this.#query(owner, statement),
      transaction: (work, last) => this.#runTransaction(owner, work, last),
      afterCommit: (hook) => hook(),
      forWorkspace: (other, share = other === workspaceId ? shareId : other) =>
        other === workspaceId && share === shareId ? shared : this.forWorkspace(other, share),
    }
    return shared
  }

  /** Runs SQL of a library: one statement with values, or several without. */
  async executeSql(text: string, values?: unknown[]): Promise<{ rows: unknown[] }> {
    return this.#withClient(null, async (client) => {
      try {
        return await client.query(text, values)
      } catch (error) {
        // pg-boss sends texts of several statements that begin a transaction; one that fails would leave it open.
        await client.query('rollback')
        throw error
      }
    })
  }

  afterCommit(hook: () => void): void {
    hook()
  }

  async close(): Promise<void> {
    await this.pool.end()
    this.#stopWatching()
  }

  async #query<Row>(owner: ConnectionOwner, statement: Statement<Row>): Promise<Row[]> {
    try {
      return await runAndLogSlow(this.#slow, statement, () => this.#run<Row>(owner, statement))
    } catch (error) {
      throw translateDatabaseError(error)
    }
  }

  #run<Row>(owner: ConnectionOwner, statement: Statement<Row>): Promise<Row[]> {
    const { heavy } = statement
    if (heavy === undefined) return this.#withClient(owner, (client) => runStatement<Row>(client, statement))
    const work = (running: RunningStatement) =>
      this.#withClient(owner, (client) => this.#runCancellable<Row>(client, statement, running), running)
    return owner === null ? runWithTimeLimit(heavy, work) : this.#heavyStatements.run(owner, heavy, work)
  }

  #runCancellable<Row>(
    client: pg.PoolClient,
    statement: Statement<Row>,
    running: RunningStatement,
    bounds?: TransactionBounds,
  ): Promise<Row[]> {
    running.begin(() => cancelStatement(this.url, client))
    return runStatement<Row>(client, statement, bounds)
  }

  async #connect(owner: ConnectionOwner): Promise<pg.PoolClient> {
    const admission = this.#shares.acquire(owner)
    if (admission) await admission
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

  // Not `pool.query`: it closes the connection on every error, even for a duplicate value. The next statement then waits for a new
  // connection, which must prepare its statements again (measured: a creation with a duplicate value took six times as long as a successful
  // one).
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

  // The first statement carries the `begin`, which saves a round trip.
  async #runTransaction<T>(owner: ConnectionOwner, work: (tx: Tx) => Promise<T>, last?: (result: T) => Statement): Promise<T> {
    const client = await this.#connect(owner).catch((error: unknown) => {
      throw translateDatabaseError(error)
    })
    const hooks: (() => void)[] = []
    let broken: unknown
    const run: Run = (statement, commits) =>
      runAndLogSlow(this.#slow, statement, () => {
        const bounds = { opens: isIdle(client), commits }
        if (statement.heavy === undefined) return runStatement(client, statement, bounds)
        return runWithTimeLimit(statement.heavy, (running) => this.#runCancellable(client, statement, running, bounds))
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

/** Whether the database last reported that no transaction is open. */
const isIdle = (client: pg.PoolClient): boolean => client.getTransactionStatus() === 'I'

/** Runs a statement of a transaction, and commits with it when `commits`. */
type Run = <Row>(statement: Statement<Row>, commits?: boolean) => Promise<Row[]>

function transactionOf(run: Run, hooks: (() => void)[]): Tx {
  const tx: Tx = {
    inTransaction: true,
    query: async <Row>(statement: Statement<Row>) => {
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
