import pg from 'pg'
import { isOutOfReach, translate } from '#shared/platform/db/database-errors.ts'
import { cancelStatement } from '#shared/platform/db/pool/cancel-statement.ts'
import { ConnectionShares, type Owner } from '#shared/platform/db/pool/connection-shares.ts'
import { endAfterLimit, HeavyLanes, type Running } from '#shared/platform/db/pool/heavy-statements.ts'
import { type DatabaseOptions, endedIdle, makePool } from '#shared/platform/db/pool/pool.ts'
import { whileRecovering } from '#shared/platform/db/pool/retry-while-recovering.ts'
import { endSilent } from '#shared/platform/db/pool/silence-watchdog.ts'
import { type Edges, runStatement } from '#shared/platform/db/statements/run-statement.ts'
import { type SlowStatements, timed } from '#shared/platform/db/statements/slow-statements.ts'
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
  of(workspaceId: string): Executor
}

/** An executor that stands in one open transaction. */
export interface Tx extends Executor {
  readonly inTransaction: true
}

/** Where Citus places each new schema on a worker node, schemas of the platform's own stay on the coordinator; PostgreSQL alone ignores it. */
export const onCoordinator = '-c citus.enable_schema_based_sharding=off'

/** The process's pool of connections. Close it once, at the end. */
export class Database implements Executor {
  readonly pool: pg.Pool
  readonly url: string
  readonly #slow: SlowStatements | undefined
  readonly #shares: ConnectionShares
  readonly #lanes = new HeavyLanes()
  readonly #stopWatching: () => void

  constructor(url: string, options: DatabaseOptions) {
    this.url = url
    this.#slow = options.slow
    this.#shares = new ConnectionShares(options.connections)
    this.pool = makePool(url, options)
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
    return this.#once(null, work, last)
  }

  of(workspaceId: string): Executor {
    const shared: Executor = {
      query: (statement) => this.#query(workspaceId, statement),
      transaction: (work, last) => this.#once(workspaceId, work, last),
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

  async #query<Row>(owner: Owner, statement: Statement): Promise<Row[]> {
    try {
      return await timed(this.#slow, statement, () => this.#run<Row>(owner, statement))
    } catch (error) {
      throw translate(error)
    }
  }

  #run<Row>(owner: Owner, statement: Statement): Promise<Row[]> {
    const { heavy } = statement
    if (heavy === undefined) return this.#withClient(owner, (client) => runStatement<Row>(client, statement))
    const work = (running: Running) => this.#withClient(owner, (client) => this.#begin<Row>(client, statement, running), running)
    return owner === null ? endAfterLimit(heavy, work) : this.#lanes.run(owner, heavy, work)
  }

  #begin<Row>(client: pg.PoolClient, statement: Statement, running: Running, edges?: Edges): Promise<Row[]> {
    running.begin(() => cancelStatement(this.url, client))
    return runStatement<Row>(client, statement, edges)
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
  async #withClient<T>(owner: Owner, run: (client: pg.PoolClient) => Promise<T>, running?: Running): Promise<T> {
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
      this.#release(owner, client, broken || running?.isCancelled === true)
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
      timed(this.#slow, statement, () => {
        const edges = { opens: isIdle(client), commits }
        if (statement.heavy === undefined) return runStatement(client, statement, edges)
        return endAfterLimit(statement.heavy, (running) => this.#begin(client, statement, running, edges))
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
      throw translate(endedIdle(client) ?? error)
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
