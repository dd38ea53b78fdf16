import pg from 'pg'
import { retryWhileRecovering } from '#shared/platform/db/pool/retry-while-recovering.ts'
import { Stopwatch } from '#shared/platform/kernel/time/stopwatch.ts'

/** A change that caches must hear of: the workspace or person whose cached facts are out of date. */
interface Change {
  readonly id: string
  readonly scope: string
  readonly horizon: string
}

/** More changes than this are not told apart one by one in every statement: `settle` finds where to go on from. */
const maxSeen = 100

/** Every request waits for this answer, which is a matter of a millisecond, and those that come meanwhile for the next one. */
const answerWithinMs = 3_000

/** Changes are kept an hour (db/chores.ts); a process that has not asked for half of it starts over with empty caches. */
const staleAfterMs = 30 * 60 * 1000

/**
 * Tells whether what a process has cached still holds, as of now. Triggers write a row to `cache_changes` whenever a role, member, key,
 * session, setting, type or field changes; `settle` reads the rows that this process has not seen and drops what they name. One small
 * statement serves every request that is waiting at that moment, so its cost does not grow with the load. Unlike a notification it
 * cannot be late: a revoked key is refused by every process on the next request (design, The hot path).
 */
export class Invalidations {
  readonly #url: string
  readonly #name: string
  readonly #drop: (scope: string | undefined) => void
  #client: Promise<pg.Client> | undefined
  #running: Promise<void> | undefined
  #next: Promise<void> | undefined
  #horizon: string | undefined
  #seen = new Set<string>()
  readonly #asked = new Stopwatch()

  /** `drop` forgets what is cached of a scope, or everything when called with undefined. */
  constructor(url: string, name: string, drop: (scope: string | undefined) => void) {
    this.#url = url
    this.#name = name
    this.#drop = drop
  }

  /** Resolves once every change committed before this call has been dropped from the caches. Rejects when the database is out of reach. */
  refresh(): Promise<void> {
    // Whoever comes before the statement is sent shares it; it is sent when this turn of the event loop has brought all that it will.
    this.#next ??= this.#afterRunning().then(() => {
      const running = this.#ask()
      this.#next = undefined
      this.#running = running
      return running
    })
    return this.#next
  }

  /** The statement under way may have read before a new caller's facts were committed, so the next one waits for it. */
  async #afterRunning(): Promise<void> {
    await this.#running?.catch(() => undefined)
    await new Promise(setImmediate)
  }

  /** From where on, and past which changes, a statement has to look; undefined when that is not known and `settle` must be asked first. */
  position(): { readonly horizon: string; readonly seen: readonly string[] } | undefined {
    const known = this.#horizon !== undefined && this.#asked.elapsedMs() < staleAfterMs && this.#seen.size < maxSeen
    return known ? { horizon: this.#horizon as string, seen: [...this.#seen] } : undefined
  }

  /** Hears of changes that a statement found behind a mark. */
  applyInvalidations(news: readonly (readonly [id: number, scope: string])[], horizon: string): void {
    // Of two statements that ran at the same time, the earlier one may answer last.
    if (this.#horizon === undefined || BigInt(horizon) > BigInt(this.#horizon)) this.#horizon = horizon
    this.#asked.restart()
    for (const [id, scope] of news) {
      this.#seen.add(String(id))
      this.#drop(scope)
    }
  }

  async close(): Promise<void> {
    const client = await this.#client?.catch(() => undefined)
    await client?.end()
  }

  async #ask(): Promise<void> {
    this.#client ??= this.#connect()
    const client = await this.#client
    try {
      const { rows } = await client.query<Change>({ name: 'changes', text: statement, values: [this.#horizon ?? null] })
      this.#apply(rows)
    } catch (error) {
      this.#forget(client)
      throw error
    }
  }

  #apply(rows: readonly Change[]): void {
    if (this.#horizon === undefined || this.#asked.elapsedMs() > staleAfterMs) {
      this.#drop(undefined)
      this.#seen = new Set()
    }
    this.#asked.restart()
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
      return await retryWhileRecovering(() => this.#connectOnce())
    } catch (error) {
      this.#client = undefined
      throw error
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
      if (isOpen) this.#forget(client)
    })
    await client.connect()
    isOpen = true
    return client
  }

  /** Lets go of a dead connection; whatever was missed meanwhile is found by the horizon, which is kept. */
  #forget(client: pg.Client): void {
    this.#client = undefined
    client.removeAllListeners('error').on('error', () => undefined)
    client.end().catch(() => undefined)
  }
}

// Rows are found by the transaction that wrote them, not by a counter: a lower number may commit after a higher one. Everything from the
// oldest transaction that was still open last time is read again and told apart by id. The outer join gives the horizon also when there is none.
const statement = `
  select change.id::text as id, change.scope, pg_snapshot_xmin(pg_current_snapshot())::text as horizon
  from (select 1) as always
  left join cache_changes as change
    on change.written_in >= coalesce($1::xid8, pg_snapshot_xmin(pg_current_snapshot()))`
