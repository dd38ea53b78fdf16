import type { Cache } from '#shared/platform/db/cache/cache.ts'
import type { Executor } from '#shared/platform/db/database.ts'
import type { Statement } from '#shared/platform/db/statements/statement.ts'

/** The cell that a verified statement adds: the horizon of its snapshot and the changes since the position; null when neither has moved. */
type FoundChanges = readonly [horizon: string, changes: readonly (readonly [id: number, scope: string])[] | null]

/**
 * Verifies the cache by the first prepared statement of a read that finds a row, in the same snapshot and without another round trip. A
 * separate statement makes a read about a third more expensive (measured, get by id).
 */
export class Verification {
  readonly #cache: Cache
  #isDone = false

  constructor(cache: Cache) {
    this.#cache = cache
  }

  /** Whether a statement verified the cache; the scopes that it found changed have been dropped. */
  get isDone(): boolean {
    return this.#isDone
  }

  /**
   * Runs a read-only statement. The first prepared statement that returns a row also verifies the cache. An unprepared one does not: it would
   * have to plan the added column each time, which takes about as long as a search over 60 columns (measured: 0.64 ms with it, 0.34 ms
   * without).
   */
  async query<Row>(db: Executor, statement: Statement<Row>): Promise<Row[]> {
    const { name, text, values = [] } = statement
    const position = this.#isDone || name === undefined ? undefined : this.#cache.position()
    if (name === undefined || !position) return db.query<Row>(statement)
    let cell: string | null = null
    const rows = await db.query<Row>({
      ...statement,
      name: `${name}v`,
      text: verifiedText(name, text, values.length),
      values: [...values, position.horizon, position.seen],
      takeLastCell: (last) => {
        cell = last
      },
    })
    if (rows.length === 0) return rows
    const [horizon, changes]: FoundChanges = cell === null ? [position.horizon, null] : JSON.parse(cell)
    this.#cache.applyInvalidations(changes ?? [], horizon)
    this.#isDone = true
    return rows
  }
}

/** A statement's text without and with the added column. */
interface VerifiedText {
  readonly original: string
  readonly verified: string
}

/** Known texts by statement name. */
const texts = new Map<string, VerifiedText>()

/**
 * Adds the verification to a statement's text, once for each name. The added column is a subquery without references to the rows, which
 * PostgreSQL runs once. The statement stays the only item of `from`, with nothing to join, group or sort, so its order is kept.
 */
function verifiedText(name: string, text: string, parameters: number): string {
  const known = texts.get(name)
  if (known?.original === text) return known.verified
  const [horizon, seen] = [`$${parameters + 1}::xid8`, `$${parameters + 2}::bigint[]`]
  const now = 'pg_snapshot_xmin(pg_current_snapshot())'
  const verified = `select found.*, (
      select case when count(*) > 0 or ${now} <> ${horizon}
        then json_build_array(${now}::text, json_agg(json_build_array(id, scope))) end
      from cache_invalidations where ${changedSinceSql(horizon)} and id <> all(${seen})
    ) as k_changes from (${text}) as found`
  if (texts.size >= maxTexts) texts.clear()
  texts.set(name, { original: text, verified })
  return verified
}

/** The most texts kept, some megabytes. */
const maxTexts = 1_000

/**
 * The condition on `cache_invalidations` for rows written since a horizon, given as SQL. The upper bound excludes nothing: with both bounds the
 * planner estimates one row in two hundred, without it a third of all rows. With some thousand rows, the estimate of a third made a
 * prepared plan seem more expensive than a custom one, so every get and every creation was planned again (measured: 23,000 gets a second
 * became 16,000).
 */
const changedSinceSql = (horizon: string): string => `written_in >= ${horizon} and written_in <= '18446744073709551615'::xid8`
