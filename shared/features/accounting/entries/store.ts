import { type Statement, sql } from '#shared/platform/db/statements/statement.ts'

/** An entry as it is stored, with its lines; amounts are decimal text. */
export interface StoredEntry {
  readonly id: string
  readonly date: string
  readonly memo: string
  readonly source_type: string
  readonly source_id: string | null
  readonly total: string
  readonly currency: string
  readonly created_at: string
  readonly reverses: string | null
  readonly reversed_by: string | null
  readonly lines: readonly StoredLine[]
}

/** A line of a stored entry. */
interface StoredLine {
  readonly id: string
  readonly account_id: string
  readonly debit: string
  readonly credit: string
  readonly memo: string
}

/**
 * Columns of a `StoredEntry`. `bound` is the placeholder of an instant, such as `$2::timestamptz`: a reversal posted at or after it is
 * ignored.
 */
const entryColumns = (bound = ''): string => `entry.id, entry.date, entry.memo, entry.source_type, entry.source_id, entry.total,
  entry.currency, entry.created_at, entry.reverses,
  (
    select reversal.id from journal_entries as reversal
    where reversal.workspace_id = $1 and reversal.reverses = entry.id${bound && ` and reversal.created_at < ${bound}`}
  ) as reversed_by,
  (
    select json_agg(json_build_object(
      'id', line.id, 'account_id', line.account_id, 'debit', line.debit::text, 'credit', line.credit::text, 'memo', line.memo
    ) order by line.position)
    from journal_lines as line where line.workspace_id = $1 and line.entry_id = entry.id
  ) as lines`

/** One entry. Values: workspace, id. */
export const findEntry = sql(
  'find_entry',
  `select ${entryColumns()} from journal_entries as entry where entry.workspace_id = $1 and entry.id = $2`,
)

/** Conditions for entries; an undefined field is no condition. */
export interface EntryFilter {
  readonly from?: string | undefined
  readonly to?: string | undefined
  readonly account?: string | undefined
  readonly currency?: string | undefined
  readonly status?: 'active' | 'reversed' | 'reversal' | undefined
  /** Only entries posted before this instant; reversals posted at or after it are ignored. */
  readonly before?: string | undefined
}

/**
 * The query of the instants and ids of the entries that a filter selects, and its values: the workspace is $1, and `before`, where given,
 * is $2. With an account the query reads the account's lines, which repeat date, currency and instant of their entry, so an account with
 * few lines is found fast in a large ledger.
 */
function meantBy(workspaceId: string, filter: EntryFilter): { readonly relation: string; readonly values: unknown[] } {
  const values: unknown[] = [workspaceId]
  const place = (value: unknown, type: string): string => `$${values.push(value)}::${type}`
  const { from, to, account, currency, status, before } = filter
  const [row, id, rows] =
    account === undefined
      ? ['entry', 'entry.id', 'select entry.created_at, entry.id from journal_entries as entry']
      : ['line', 'line.entry_id', 'select distinct line.created_at, line.entry_id as id from journal_lines as line']
  const bound = before === undefined ? undefined : place(before, 'timestamptz')
  const parts = [`${row}.workspace_id = $1`]
  if (bound !== undefined) parts.push(`${row}.created_at < ${bound}`)
  if (from !== undefined) parts.push(`${row}.date >= ${place(from, 'date')}`)
  if (to !== undefined) parts.push(`${row}.date <= ${place(to, 'date')}`)
  if (currency !== undefined) parts.push(`${row}.currency = ${place(currency, 'text')}`)
  if (account !== undefined) parts.push(`${row}.account_id = ${place(account, 'uuid')}`)
  const isReversal =
    account === undefined
      ? 'entry.reverses is not null'
      : `exists (select from journal_entries as entry where entry.workspace_id = $1 and entry.id = ${id} and entry.reverses is not null)`
  const isReversed = `exists (
    select from journal_entries as reversal
    where reversal.workspace_id = $1 and reversal.reverses = ${id}${bound === undefined ? '' : ` and reversal.created_at < ${bound}`}
  )`
  if (status === 'active') parts.push(`not (${isReversal}) and not ${isReversed}`)
  if (status === 'reversed') parts.push(isReversed)
  if (status === 'reversal') parts.push(isReversal)
  return { relation: `${rows} where ${parts.join(' and ')}`, values }
}

/**
 * A page of the entries that a filter selects, newest first. This statement and `countEntries` are planned for their values, since these
 * decide whether the days, the account or the order narrow the result the most.
 */
export function findEntries(workspaceId: string, filter: EntryFilter, limit: number, offset: number): Statement {
  const { relation, values } = meantBy(workspaceId, filter)
  const [most, skipped] = [`$${values.push(limit)}`, `$${values.push(offset)}`]
  // The inner query finds the ids of the page, so only the entries of the page are joined with their lines.
  const text = `select ${entryColumns(filter.before === undefined ? '' : '$2::timestamptz')}
    from (${relation} order by created_at desc, id desc limit ${most} offset ${skipped}) as page
    join journal_entries as entry on entry.workspace_id = $1 and entry.id = page.id
    order by entry.created_at desc, entry.id desc`
  return { text, values }
}

/** The number of entries that a filter selects. */
export function countEntries(workspaceId: string, filter: EntryFilter): Statement {
  const { relation, values } = meantBy(workspaceId, filter)
  return { text: `select count(*) as total from (${relation}) as meant`, values }
}

/** An entry with its exact instant of posting, as PostgreSQL writes it; the next page begins after it. */
export interface PositionedEntry extends StoredEntry {
  readonly posted_at: string
}

/**
 * A page of entries in the order of posting. Values: workspace, instant and id of the last entry of the previous page, the instant before
 * which the entries were posted, page size.
 */
export const findEntriesByPosting = sql(
  'walk_entries_by_posting',
  `select ${entryColumns('$4::timestamptz')}, entry.created_at::text as posted_at from journal_entries as entry
   where entry.workspace_id = $1 and (entry.created_at, entry.id) > ($2::timestamptz, $3::uuid) and entry.created_at < $4::timestamptz
   order by entry.created_at, entry.id limit $5`,
)

/**
 * A page of entries ordered by date, then by posting. Values: workspace; date, instant and id of the last entry of the previous page; the
 * instant before which the entries were posted; page size.
 */
export const findEntriesByDate = sql(
  'walk_entries_by_date',
  `select ${entryColumns('$5::timestamptz')}, entry.created_at::text as posted_at from journal_entries as entry
   where entry.workspace_id = $1 and (entry.date, entry.created_at, entry.id) > ($2::date, $3::timestamptz, $4::uuid)
     and entry.created_at < $5::timestamptz
   order by entry.date, entry.created_at, entry.id limit $6`,
)

/** An active entry of a payments record: it neither reverses another entry nor was reversed. */
export interface PaymentEntry {
  readonly id: string
  readonly source_id: string
  /** Decimal text. */
  readonly total: string
  readonly currency: string
}

/** The active entries of payments records, in the order of their posting. Values: workspace, ids of records as text. */
export const findPaymentEntries = sql(
  'find_payment_entries',
  `select entry.id, entry.source_id, entry.total, entry.currency
   from journal_entries as entry
   where entry.workspace_id = $1 and entry.source_type = 'payment' and entry.source_id = any($2::text[]) and entry.reverses is null
     and not exists (
       select from journal_entries as reversal where reversal.workspace_id = entry.workspace_id and reversal.reverses = entry.id
     )
   order by entry.created_at, entry.id`,
)
