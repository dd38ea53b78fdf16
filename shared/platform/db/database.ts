import pg from 'pg'
import { connectionProblem, isConnectionCut, isDatabaseUnavailable, translateDatabaseError } from '#shared/platform/db/database-errors.ts'
import { ConnectionShares } from '#shared/platform/db/pool/connection-shares.ts'
import { LongWaits } from '#shared/platform/db/pool/long-waits.ts'
import { createPool, type DatabaseOptions, findIdleTimeoutError } from '#shared/platform/db/pool/pool.ts'
import { probeDatabase } from '#shared/platform/db/pool/probe.ts'
import { retryWhileRecovering } from '#shared/platform/db/pool/retry-while-recovering.ts'
import { maxSearchMs, runSearch } from '#shared/platform/db/pool/run-search.ts'
import { SearchLimiter } from '#shared/platform/db/pool/search-limiter.ts'
import { endSilentConnections } from '#shared/platform/db/pool/silence-watchdog.ts'
import { mayWrite } from '#shared/platform/db/statements/may-write.ts'
import type { ByteMeter, CarriedCommands } from '#shared/platform/db/statements/prepared-query.ts'
import { runStatement } from '#shared/platform/db/statements/run-statement.ts'
import { runMeasured, type SlowStatements } from '#shared/platform/db/statements/slow-statements.ts'
import type { Statement } from '#shared/platform/db/statements/statement.ts'
import { Problem } from '#shared/platform/kernel/errors.ts'
import type { Part } from '#shared/platform/kernel/process/part.ts'
import { shareOf, type WorkOwner, workOwner } from '#shared/platform/kernel/process/work-owner.ts'

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
  /** For whom its connections and the computing on its rows count. */
  readonly owner: WorkOwner
  /**
   * The same executor with its connections counted for a workspace, and for the share of its owner's workspaces; a transaction keeps its
   * connection.
   */
  forWorkspace(workspaceId: string, shareId?: string): Executor
}

/** The first row of a statement that returns at most one. */
export async function firstRow<Row>(db: Pick<Executor, 'query'>, statement: Statement<Row>): Promise<Row | undefined> {
  return (await db.query(statement))[0]
}

/** An executor in one open transaction. */
export interface Tx extends Executor {
  readonly inTransaction: true
}

/** For whom statements run: the workspace whose share counts, and the meter of its caller. */
interface User {
  readonly workspaceId: string | null
  readonly owner: WorkOwner
  readonly meter?: ByteMeter | undefined
}

const platformUser: User = { workspaceId: null, owner: null }

/** The process's connection pool. Close it when the process stops. */
export class Database implements Executor {
  readonly pool: pg.Pool
  readonly owner = null
  readonly url: string
  readonly #part: Part | undefined
  readonly #slow: SlowStatements | undefined
  readonly #waits = new LongWaits()
  readonly #shares: ConnectionShares
  readonly #searches: SearchLimiter<pg.PoolClient>
  readonly #statementTimeoutMs: number
  readonly #stopWatching: () => void

  constructor(url: string, options: DatabaseOptions) {
    this.url = url
    this.#part = options.part
    this.#part?.probeWith(() => probeDatabase(url))
    this.#slow = options.slow
    this.#statementTimeoutMs = options.statementTimeoutMs
    this.#shares = new ConnectionShares(options.connections, (ms) => this.#waits.note(ms))
    this.#searches = new SearchLimiter({
      perWorkspace: options.processors ?? 2,
      // The last quarter of the connections is for other statements.
      inAll: Math.max(1, options.connections - Math.max(1, Math.floor(options.connections / 4))),
      othersUseFor: (share) => this.#shares.othersUseFor(share),
    })
    this.pool = createPool(url, options)
    this.#stopWatching = endSilentConnections(this.pool, url)
  }

  /** The number of statements and transactions that wait for a connection or for a slot of searches. */
  get waiting(): number {
    return this.#shares.waiting + this.#searches.waiting
  }

  query<Row>(statement: Statement<Row>): Promise<Row[]> {
    return this.#query(platformUser, statement)
  }

  transaction<T>(work: (tx: Tx) => Promise<T>, last?: (result: T) => Statement): Promise<T> {
    return this.#runTransaction(platformUser, work, last)
  }

  forWorkspace(workspaceId: string, shareId = workspaceId): Executor {
    return this.#executor({ workspaceId, owner: workOwner(workspaceId, shareId) })
  }

  /** The same executor, whose `meter` counts the bytes of the rows that it reads. */
  metered(meter: ByteMeter): Executor {
    return this.#executor({ workspaceId: null, owner: null, meter })
  }

  #executor(user: User): Executor {
    const shared: Executor = {
      owner: user.owner,
      query: (statement) => this.#query(user, statement),
      transaction: (work, last) => this.#runTransaction(user, work, last),
      afterCommit: (hook) => hook(),
      forWorkspace: (workspaceId, shareId) => {
        // Without a share, the same workspace keeps the one that it has.
        const owner = workOwner(workspaceId, shareId ?? (workspaceId === user.workspaceId ? shareOf(user.owner) : null) ?? workspaceId)
        return owner === user.owner ? shared : this.#executor({ ...user, workspaceId, owner })
      },
    }
    return shared
  }

  /** Runs SQL of a library: one statement with values, or several without. */
  async executeSql(text: string, values?: unknown[]): Promise<{ rows: unknown[] }> {
    const run = this.#withClient(null, async (client) => {
      try {
        return await client.query(text, values)
      } catch (error) {
        // pg-boss sends texts of several statements that begin a transaction; one that fails would leave it open.
        if (!isDatabaseUnavailable(error)) await client.query('rollback')
        throw error
      }
    })
    return run.catch((error: unknown) => {
      // pg-boss looks at the codes of all other errors itself.
      throw isDatabaseUnavailable(error) ? this.#translate(error, mayWrite(text)) : error
    })
  }

  afterCommit(hook: () => void): void {
    hook()
  }

  async close(): Promise<void> {
    await this.pool.end()
    this.#stopWatching()
    this.#searches.close()
    this.#waits.close()
  }

  async #query<Row>({ owner, meter }: User, statement: Statement<Row>): Promise<Row[]> {
    const onClient = (client: pg.PoolClient) => this.#run(client, statement, { owner, meter })
    const runOnce = () => (statement.search && owner !== null ? this.#search(owner, onClient) : this.#withClient(owner, onClient))
    const run = async () => {
      try {
        return await runOnce()
      } catch (error) {
        // A read whose connection was cut is tried once more, on another one. One that could not connect is a Problem.
        if (!(error instanceof Problem) && isConnectionCut(error) && !mayWrite(statement.text)) return runOnce()
        throw error
      }
    }
    try {
      return await run()
    } catch (error) {
      throw this.#translate(error, mayWrite(statement.text))
    }
  }

  #translate(error: unknown, mayBeWritten = false): unknown {
    return translateDatabaseError(error, { mayBeWritten, part: this.#part })
  }

  /**
   * Runs a search, outside a transaction, once its workspace may run another one. A search that waited goes on with the connection of the one
   * before: what is sent by way of the pool is sent after the answer before was made, and the database rests meanwhile.
   */
  async #search<T>(owner: string, run: (client: pg.PoolClient) => Promise<T>): Promise<T> {
    const share = shareOf(owner)
    const admission = this.#searches.acquire(share, true)
    const handedOver = admission && (await admission)
    const client = handedOver ?? (await this.#connectForSlot(owner, share))
    return this.#use(client, run, (broken) => {
      const isSpare = !broken && this.#shares.waiting === 0
      if (!this.#searches.release(share, isSpare ? client : undefined)) this.#release(owner, client, broken)
    })
  }

  async #connectForSlot(owner: string, share: string): Promise<pg.PoolClient> {
    try {
      return await this.#connect(owner)
    } catch (error) {
      this.#searches.release(share)
      throw error
    }
  }

  /** Runs a search in a transaction once its workspace may run another one. */
  async #withSlot<T>(owner: string, search: () => Promise<T>): Promise<T> {
    const share = shareOf(owner)
    const admission = this.#searches.acquire(share)
    if (admission) await admission
    try {
      return await search()
    } finally {
      this.#searches.release(share)
    }
  }

  #run<Row>(
    client: pg.PoolClient,
    statement: Statement<Row>,
    { owner, meter }: Pick<User, 'owner' | 'meter'>,
    carried?: Omit<CarriedCommands, 'timeLimit'>,
    transactionMs?: number,
  ): Promise<Row[]> {
    const { search } = statement
    return runMeasured(this.#slow, owner, statement, () => {
      const isShorter = transactionMs !== undefined && transactionMs <= maxSearchMs
      if (!search || isShorter) return runStatement(client, statement, carried, meter)
      const afterwardsMs = carried ? (transactionMs ?? this.#statementTimeoutMs) : undefined
      const timeLimit = { ms: maxSearchMs, afterwardsMs }
      return runSearch(search, this.#waits, this.#slow?.log, () => runStatement(client, statement, { ...carried, timeLimit }, meter))
    })
  }

  async #connect(owner: WorkOwner): Promise<pg.PoolClient> {
    const admission = this.#shares.acquire(owner)
    if (admission) await admission
    try {
      return await retryWhileRecovering(() => this.pool.connect(), this.#part)
    } catch (error) {
      this.#shares.release(owner)
      throw connectionProblem(error, this.#part)
    }
  }

  #release(owner: WorkOwner, client: pg.PoolClient, broken: boolean): void {
    client.release(broken)
    this.#shares.release(owner)
  }

  // Not `pool.query`: it closes the connection on every error, even for a duplicate value. The next statement then waits for a new
  // connection, which must prepare its statements again (measured: a creation with a duplicate value took six times as long as a successful
  // one).
  async #withClient<T>(owner: WorkOwner, run: (client: pg.PoolClient) => Promise<T>): Promise<T> {
    const client = await this.#connect(owner)
    return this.#use(client, run, (broken) => this.#release(owner, client, broken))
  }

  async #use<T>(client: pg.PoolClient, run: (client: pg.PoolClient) => Promise<T>, release: (broken: boolean) => void): Promise<T> {
    let broken = true
    try {
      const result = await run(client)
      broken = false
      return result
    } catch (error) {
      broken = !(error instanceof pg.DatabaseError || error instanceof Problem) || isDatabaseUnavailable(error)
      throw error
    } finally {
      release(broken)
    }
  }

  // The first statement carries the `begin`, which saves a round trip.
  async #runTransaction<T>({ owner, meter }: User, work: (tx: Tx) => Promise<T>, last?: (result: T) => Statement): Promise<T> {
    const client = await this.#connect(owner)
    const hooks: (() => void)[] = []
    let broken: unknown
    let isCommitting = false
    let limitMs: number | undefined
    const run: Run = async (statement, commits) => {
      const send = () => this.#run(client, statement, { owner, meter }, { opens: isIdle(client), commits }, limitMs)
      const rows = await (statement.search && owner !== null ? this.#withSlot(owner, send) : send())
      limitMs = statement.transactionMs ?? limitMs
      return rows
    }
    const translate = (error: unknown) => this.#translate(findIdleTimeoutError(client) ?? error, isCommitting)
    try {
      const result = await work(transactionOf(owner, run, hooks, translate))
      isCommitting = true
      if (last) await run(last(result), true)
      else if (!isIdle(client)) await client.query('commit')
      for (const hook of hooks) hook()
      return result
    } catch (error) {
      if (isDatabaseUnavailable(error)) broken = error
      else {
        await client.query('rollback').catch((cause: unknown) => {
          broken = cause
        })
      }
      throw translate(error)
    } finally {
      this.#release(owner, client, broken !== undefined)
    }
  }
}

/** Whether the database last reported that no transaction is open. */
const isIdle = (client: pg.PoolClient): boolean => client.getTransactionStatus() === 'I'

/** Runs a statement of a transaction, and commits with it when `commits`. */
type Run = <Row>(statement: Statement<Row>, commits?: boolean) => Promise<Row[]>

function transactionOf(owner: WorkOwner, run: Run, hooks: (() => void)[], translate: (error: unknown) => unknown): Tx {
  const tx: Tx = {
    owner,
    inTransaction: true,
    query: async <Row>(statement: Statement<Row>) => {
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
    forWorkspace: () => tx,
  }
  return tx
}
