import pg from 'pg'
import { connectionProblem, isConnectionCut, translateDatabaseError } from '#shared/platform/db/database-errors.ts'
import { retryWhileRecovering } from '#shared/platform/db/pool/retry-while-recovering.ts'
import { Problem } from '#shared/platform/kernel/errors.ts'
import type { Part } from '#shared/platform/kernel/process/part.ts'
import { Stopwatch } from '#shared/platform/kernel/time/stopwatch.ts'
import { minuteMs } from '#shared/platform/kernel/time/units.ts'

/** A row of `cache_invalidations`: the workspace or person whose cache entries are out of date. */
interface Change {
  readonly id: string
  readonly scope: string
  readonly horizon: string
}

/**
 * From this number of seen changes on `position` returns undefined, since every verified statement would list them all. `refresh` then
 * advances the horizon, which shortens the list.
 */
const maxSeen = 100

/** The time limit of a refresh. It normally takes a millisecond; every request waits for one. */
const answerWithinMs = 3_000

/**
 * Rows of `cache_invalidations` are deleted after an hour (db/maintenance.ts), so a process that has not read them for half an hour drops its
 * whole cache.
 */
const staleAfterMs = 30 * minuteMs

/**
 * Finds which cache entries are out of date. Triggers write a row to `cache_invalidations` whenever a role, member, key, session, setting, type
 * or field changes; `refresh` reads the rows that this process has not seen and drops their scopes. One small statement serves all waiting
 * requests, so its cost does not grow with the load. A notification could arrive late, this statement cannot: every process refuses a
 * revoked key on the next request (docs/decisions/cache-rule.md).
 */
export class Invalidations {
  readonly #url: string
  readonly #name: string
  readonly #part: Part | undefined
  readonly #drop: (scope: string | undefined) => void
  #client: Promise<pg.Client> | undefined
  #running: Promise<void> | undefined
  #next: Promise<void> | undefined
  #horizon: string | undefined
  #seen = new Set<string>()
  readonly #sinceRead = new Stopwatch()

  #isOpen = false

  /** `drop` drops the entries of a scope, or everything when called with undefined. */
  constructor(url: string, name: string, drop: (scope: string | undefined) => void, part?: Part) {
    this.#url = url
    this.#name = name
    this.#drop = drop
    this.#part = part
  }

  /** Whether its connection is open. */
  get isOpen(): boolean {
    return this.#isOpen
  }

  /** Id of the server process of its connection, which it opens if necessary. Throws UNAVAILABLE. */
  async readBackend(): Promise<number> {
    this.#client ??= this.#connect()
    const { rows } = await (await this.#client).query<{ pid: number }>('select pg_backend_pid() as pid')
    return rows[0]?.pid ?? 0
  }

  /** Resolves once every change committed before this call has been dropped from the caches. Throws UNAVAILABLE when the database is unreachable. */
  refresh(): Promise<void> {
    // All calls made before the next statement is sent share it. It is sent when the running statement has been answered, at the end of
    // that turn of the event loop.
    this.#next ??= this.#afterRunning().then(() => {
      const running = this.#ask()
      this.#next = undefined
      this.#running = running
      return running
    })
    return this.#next
  }

  /**
   * Waits for the running statement to end. That statement may have read before a change that a new caller must see was committed, so the
   * new caller needs a later one.
   */
  async #afterRunning(): Promise<void> {
    await this.#running?.catch(() => undefined)
    await new Promise(setImmediate)
  }

  /**
   * The oldest transaction whose changes a statement must look for (`horizon`), and the ids of changes to ignore because they are `seen`.
   * Undefined when this process has not read changes for half an hour or has seen too many: then call `refresh` first.
   */
  position(): { readonly horizon: string; readonly seen: readonly string[] } | undefined {
    const known = this.#horizon !== undefined && this.#sinceRead.elapsedMs() < staleAfterMs && this.#seen.size < maxSeen
    return known ? { horizon: this.#horizon as string, seen: [...this.#seen] } : undefined
  }

  /** Applies the changes that a verified statement found after a position. */
  applyInvalidations(changes: readonly (readonly [id: number, scope: string])[], horizon: string): void {
    // Of two concurrent statements the one with the older horizon may answer last, so the horizon never moves back.
    if (this.#horizon === undefined || BigInt(horizon) > BigInt(this.#horizon)) this.#horizon = horizon
    this.#sinceRead.restart()
    for (const [id, scope] of changes) {
      this.#seen.add(String(id))
      this.#drop(scope)
    }
  }

  async close(): Promise<void> {
    const client = await this.#client?.catch(() => undefined)
    await client?.end()
  }

  async #ask(): Promise<void> {
    try {
      this.#apply(await this.#readTwice())
    } catch (error) {
      throw translateDatabaseError(error, { part: this.#part })
    }
  }

  /** A read whose connection was cut, as by a restart, is tried once more on another one. */
  async #readTwice(): Promise<readonly Change[]> {
    try {
      return await this.#read()
    } catch (error) {
      if (error instanceof Problem || !isConnectionCut(error)) throw error
      return this.#read()
    }
  }

  async #read(): Promise<readonly Change[]> {
    this.#client ??= this.#connect()
    const client = await this.#client
    try {
      const { rows } = await client.query<Change>({ name: 'changes', text: statement, values: [this.#horizon ?? null] })
      return rows
    } catch (error) {
      this.#discard(client)
      throw error
    }
  }

  #apply(rows: readonly Change[]): void {
    if (this.#horizon === undefined || this.#sinceRead.elapsedMs() > staleAfterMs) {
      this.#drop(undefined)
      this.#seen = new Set()
    }
    this.#sinceRead.restart()
    const seen = new Set<string>()
    for (const { id, scope, horizon } of rows) {
      this.#horizon = horizon
      if (id === null) continue
      seen.add(id)
      if (!this.#seen.has(id)) this.#drop(scope)
    }
    this.#seen = seen
  }

  async #connect(): Promise<pg.Client> {
    try {
      return await retryWhileRecovering(() => this.#connectOnce(), this.#part)
    } catch (error) {
      this.#client = undefined
      throw connectionProblem(error, this.#part)
    }
  }

  async #connectOnce(): Promise<pg.Client> {
    const client = new pg.Client({
      connectionString: this.#url,
      application_name: `${this.#name} changes`,
      connectionTimeoutMillis: answerWithinMs,
      query_timeout: answerWithinMs,
      keepAlive: true,
    })
    let isOpen = false
    client.on('error', () => {
      if (isOpen) this.#discard(client)
    })
    await client.connect()
    isOpen = true
    this.#isOpen = true
    return client
  }

  /** Discards a dead connection. The horizon is kept, so missed changes are found later. */
  #discard(client: pg.Client): void {
    this.#client = undefined
    this.#isOpen = false
    client.removeAllListeners('error').on('error', () => undefined)
    client.end().catch(() => undefined)
  }
}

// Rows are found by the transaction that wrote them, not by a counter: a lower number may commit after a higher one. Rows since the oldest
// transaction that was open last time are read again and identified by id. The outer join returns the horizon even without changes.
const statement = `
  select change.id::text as id, change.scope, pg_snapshot_xmin(pg_current_snapshot())::text as horizon
  from (select 1) as always
  left join cache_invalidations as change
    on change.written_in >= coalesce($1::xid8, pg_snapshot_xmin(pg_current_snapshot()))`
