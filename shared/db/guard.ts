import type { Cache } from '#shared/db/cache.ts'
import { isOutOfReach, isOverloaded } from '#shared/db/conflicts.ts'
import { since } from '#shared/db/since.ts'

/** What fills the slots of a guarded statement. */
type Slots = NonNullable<ReturnType<Cache['mark']>>

/** What a guarded statement answers beside its own columns, once: changes that it found behind the guard's mark, and where the next look begins. */
export interface Found {
  readonly k_news: readonly (readonly [id: number, scope: string])[] | null
  readonly k_horizon: string
}

/** Thrown where a guarded statement wrote nothing, because something that the process remembered may hold no more. */
export class OutOfDate extends Error {
  override readonly name = 'OutOfDate'
}

/**
 * Lets the statement that writes find out as well whether what the process remembered until then still holds, and write nothing when it
 * does not. Its text has a table `news` (see `newsSql`) of all changes, so that the process hears of them, and writes only
 * `where not exists (select from news)`, or none of them in the scopes that it goes by.
 */
export class Guard {
  readonly #cache: Cache
  readonly #mark: Slots
  readonly #drops: number
  #isConfirmed = false

  constructor(cache: Cache, mark: Slots) {
    this.#cache = cache
    this.#mark = mark
    this.#drops = cache.drops
  }

  /** Whether a statement of this guard has written. */
  get isConfirmed(): boolean {
    return this.#isConfirmed
  }

  /** Asks by a statement of its own. Throws OutOfDate. */
  async ask(): Promise<void> {
    await this.#cache.settle()
    this.requireCurrent()
  }

  /** Throws OutOfDate when the process has forgotten something since the guard was made: what was done until now may have been done from that. */
  requireCurrent(): void {
    if (this.#cache.drops !== this.#drops) throw new OutOfDate(changed)
  }

  /** What fills the slots of the guarded statement of work that goes by what is remembered of these scopes. */
  slots(scopes: readonly string[]): Slots & { readonly scopes: readonly string[] } {
    return { ...this.#mark, scopes }
  }

  /** The same for a statement that many guards share; good for those that are current at this moment. */
  get latest(): Slots {
    return this.#cache.mark() ?? this.#mark
  }

  /** Hears what a statement found; throws OutOfDate when it was kept from writing, by a change of these scopes or, without, of any. */
  hear({ k_news, k_horizon }: Found, scopes?: readonly string[]): void {
    this.#cache.hear(k_news ?? [], k_horizon)
    if (k_news?.some(([, scope]) => scopes?.includes(scope) ?? true)) throw new OutOfDate(changed)
  }

  /** The same for the statement that the guard is for. */
  confirm(found: Found, scopes: readonly string[]): void {
    this.hear(found, scopes)
    this.#isConfirmed = true
  }
}

const changed = 'Something that was remembered has changed'

/** Slots that guard nothing, for work that has asked before. */
export const unguarded = { horizon: null, seen: null, scopes: null } as const

/** The table `news` of a guarded statement, with places for the horizon and for what was seen; then the columns of `Found`. */
export const newsSql = (horizon = '?', seen = '?'): string =>
  `select id, scope from cache_changes where ${since(`${horizon}::xid8`)} and id <> all(${seen}::bigint[])`
export const foundSql = `(select json_agg(json_build_array(id, scope)) from news) as k_news,
  pg_snapshot_xmin(pg_current_snapshot())::text as k_horizon`

/**
 * Writes from what is remembered, by a statement that is guarded. When it finds something changed, nothing was written, and the work is
 * done again, now knowing of it; so is work that failed before it came to its statement, should the failure not hold. The work must write
 * by one guarded statement, or in one transaction with it, and leave nothing behind that matters when it fails.
 */
export async function writeGuarded<T>(cache: Cache, write: (guard: Guard | undefined) => Promise<T>): Promise<T> {
  const mark = cache.mark()
  if (mark) {
    const guard = new Guard(cache, mark)
    try {
      return await write(guard)
    } catch (failure) {
      // A database that is out of reach or overloaded is not asked a second time.
      if (guard.isConfirmed || isOutOfReach(failure) || isOverloaded(failure)) throw failure
      // Whoever forgot something since the work began: it may have begun from that.
      if (await holds(guard)) throw failure
    }
  }
  await cache.settle()
  return write(undefined)
}

const holds = (guard: Guard): Promise<boolean> =>
  guard.ask().then(
    () => true,
    (error: unknown) => {
      if (error instanceof OutOfDate) return false
      throw error
    },
  )
