import type { Cache } from '#shared/platform/db/cache/cache.ts'
import type { Executor } from '#shared/platform/db/database.ts'
import type { Statement } from '#shared/platform/db/statements/statement.ts'

/**
 * Columns that a verified statement adds to each row, after its own. Its result has at least one row, even when the statement found
 * nothing.
 */
interface AddedColumns {
  readonly k_news: readonly (readonly [id: number, scope: string])[] | null
  /** Null when the horizon has not moved, which is the usual case and keeps rows short. */
  readonly k_horizon: string | null
  readonly k_found: boolean | null
}

/**
 * Verifies the cache by the first prepared statement of a read, in the same snapshot and without another round trip. A separate statement
 * makes a read about a third more expensive (measured, get by id).
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
   * Runs a read-only statement. The first prepared statement also verifies the cache. An unprepared one does not: it would have to plan
   * the added columns each time, which takes about as long as a search over 60 columns (measured: 0.64 ms with them, 0.34 ms without).
   */
  async query<Row>(db: Executor, statement: Statement<Row>): Promise<Row[]> {
    const { name, text, values = [], rows: form = 'objects' } = statement
    if (this.#isDone || name === undefined) return db.query<Row>(statement)
    const position = this.#cache.position()
    if (!position) return db.query<Row>(statement)
    const rows = await db.query<Row>({
      ...statement,
      name: name + rowForms[form].suffix,
      text: verifiedText(name, text, form, values.length),
      values: [...values, position.horizon, position.seen],
    })
    const { k_found, k_news, k_horizon } = addedColumnsOf(rows[0])
    this.#cache.applyInvalidations(k_news ?? [], k_horizon ?? position.horizon)
    this.#isDone = true
    return k_found ? rows : []
  }
}

/** Reads the added columns of the first row. In array form a row whose own cells are all null means that nothing was found. */
function addedColumnsOf(row: unknown): AddedColumns {
  if (!Array.isArray(row)) return row as AddedColumns
  const [k_news, k_horizon] = row.slice(-2)
  return { k_news, k_horizon, k_found: row.slice(0, -2).some((cell) => cell !== null) }
}

/** A statement's text without and with the added columns. */
interface VerifiedText {
  readonly original: string
  readonly verified: string
}

/** The two row forms: known texts by statement name, the suffix of the prepared name, and the SQL that marks a found row. */
const rowForms = {
  objects: {
    suffix: 'v',
    texts: new Map<string, VerifiedText>(),
    found: (text: string) => `select original.*, true as k_found from (${text}) as original`,
  },
  // Without `k_found`, which saves one cell in fifteen for a page of 50 rows.
  arrays: { suffix: 'w', texts: new Map<string, VerifiedText>(), found: (text: string) => text },
} as const

/** Adds the verification columns to a statement's text, once for each name. */
function verifiedText(name: string, text: string, form: keyof typeof rowForms, parameters: number): string {
  const { texts, found } = rowForms[form]
  const known = texts.get(name)
  if (known?.original === text) return known.verified
  const verified = `select found.*, news.k_news, news.k_horizon from (
      select json_agg(json_build_array(id, scope)) as k_news, nullif(pg_snapshot_xmin(pg_current_snapshot()), $${parameters + 1}::xid8)::text as k_horizon
      from cache_invalidations where ${changedSinceSql(`$${parameters + 1}::xid8`)} and id <> all($${parameters + 2}::bigint[])
    ) as news left join (${found(text)}) as found on true`
  if (texts.size >= maxTexts) texts.clear()
  texts.set(name, { original: text, verified })
  return verified
}

/** The most texts kept for each form, some megabytes. */
const maxTexts = 1_000

/**
 * The condition on `cache_invalidations` for rows written since a horizon, given as SQL. The upper bound excludes nothing: with both bounds the
 * planner estimates one row in two hundred, without it a third of all rows. With some thousand rows, the estimate of a third made every
 * get and every creation be planned again (docs/decisions/cache-rule.md#figures).
 */
const changedSinceSql = (horizon: string): string => `written_in >= ${horizon} and written_in <= '18446744073709551615'::xid8`
