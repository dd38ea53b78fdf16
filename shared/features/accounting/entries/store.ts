import {
  bigint,
  date,
  instant,
  json,
  numeric,
  type RowOf,
  selectList,
  text,
  texts,
  uuid,
} from '#shared/platform/db/statements/sql-types.ts'
import { composeStatement, type Statement, statement } from '#shared/platform/db/statements/statement.ts'

/** A line of a stored entry; amounts are decimal text. */
interface StoredLine {
  readonly id: string
  readonly account_id: string
  readonly debit: string
  readonly credit: string
  readonly memo: string
}

const storedColumns = {
  id: uuid.notNull,
  date: date.notNull,
  memo: text.notNull,
  source_type: text.notNull,
  source_id: text,
  total: numeric.notNull,
  currency: text.notNull,
  created_at: instant.notNull,
  reverses: uuid,
}
const columns = { ...storedColumns, reversed_by: uuid, lines: json.as<readonly StoredLine[]>().notNull }

/** A stored entry with its lines; amounts are decimal text. */
export type StoredEntry = RowOf<typeof columns>

/**
 * The select list of a `StoredEntry`. `bound` is SQL of an instant, such as `$before::timestamptz`: a reversal posted at or after it is
 * ignored.
 */
const entryList = (bound = ''): string => `${selectList(storedColumns, 'entry')},
  (
    select reversal.id from journal_entries as reversal
    where reversal.workspace_id = $workspaceId and reversal.reverses = entry.id${bound && ` and reversal.created_at < ${bound}`}
  ) as reversed_by,
  (
    select json_agg(json_build_object(
      'id', line.id, 'account_id', line.account_id, 'debit', line.debit::text, 'credit', line.credit::text, 'memo', line.memo
    ) order by line.position)
    from journal_lines as line where line.workspace_id = $workspaceId and line.entry_id = entry.id
  ) as lines`

/** One entry. */
export const findEntry = statement(
  'accounting.findEntry',
  `select ${entryList()} from journal_entries as entry where entry.workspace_id = $workspaceId and entry.id = $id`,
  { params: { workspaceId: uuid, id: uuid }, columns },
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

/** Parameters of the filter and the page of entries. */
const filterParams = {
  workspaceId: uuid,
  before: instant.orNull,
  from: date.orNull,
  to: date.orNull,
  currency: text.orNull,
  account: uuid.orNull,
  limit: bigint,
  offset: bigint,
}

/**
 * The query of the instants and ids of the entries that a filter selects. With an account the query reads the account's lines, which repeat
 * date, currency and instant of their entry, so an account with few lines is found fast in a large ledger.
 */
function filterQuery({ from, to, account, currency, status, before }: EntryFilter): string {
  const [row, id, rows] =
    account === undefined
      ? ['entry', 'entry.id', 'select entry.created_at, entry.id from journal_entries as entry']
      : ['line', 'line.entry_id', 'select distinct line.created_at, line.entry_id as id from journal_lines as line']
  const parts = [`${row}.workspace_id = $workspaceId`]
  if (before !== undefined) parts.push(`${row}.created_at < $before::timestamptz`)
  if (from !== undefined) parts.push(`${row}.date >= $from::date`)
  if (to !== undefined) parts.push(`${row}.date <= $to::date`)
  if (currency !== undefined) parts.push(`${row}.currency = $currency::text`)
  if (account !== undefined) parts.push(`${row}.account_id = $account::uuid`)
  const isReversal =
    account === undefined
      ? 'entry.reverses is not null'
      : `exists (
          select from journal_entries as entry where entry.workspace_id = $workspaceId and entry.id = ${id} and entry.reverses is not null
        )`
  const isReversed = `exists (
    select from journal_entries as reversal
    where reversal.workspace_id = $workspaceId and reversal.reverses = ${id}${before === undefined ? '' : ' and reversal.created_at < $before::timestamptz'}
  )`
  if (status === 'active') parts.push(`not (${isReversal}) and not ${isReversed}`)
  if (status === 'reversed') parts.push(isReversed)
  if (status === 'reversal') parts.push(isReversal)
  return `${rows} where ${parts.join(' and ')}`
}

/**
 * A page of the entries that a filter selects, newest first. This statement and `countEntries` are planned for their values, since these
 * decide whether the days, the account or the order narrow the result the most.
 */
export const findEntries = (workspaceId: string, filter: EntryFilter, limit: number, offset: number): Statement<StoredEntry> =>
  // The inner query finds the ids of the page, so only the entries of the page are joined with their lines.
  composeStatement(
    `select ${entryList(filter.before === undefined ? '' : '$before::timestamptz')}
    from (${filterQuery(filter)} order by created_at desc, id desc limit $limit offset $offset) as page
    join journal_entries as entry on entry.workspace_id = $workspaceId and entry.id = page.id
    order by entry.created_at desc, entry.id desc`,
    { params: filterParams, columns },
    { ...filter, workspaceId, limit, offset },
  )

/** The number of entries that a filter selects. */
export const countEntries = (workspaceId: string, filter: EntryFilter): Statement<{ readonly total: number }> =>
  composeStatement(
    `select count(*) as total from (${filterQuery(filter)}) as matching`,
    { params: filterParams, columns: { total: bigint.notNull } },
    { ...filter, workspaceId },
  )

/** The columns of an entry with its exact instant of posting, as PostgreSQL writes it; the next page begins after it. */
const positionedColumns = { ...columns, posted_at: text.notNull }

/** A page of entries posted before an instant, in the order of posting, after the last entry of the previous page. */
export const findEntriesByPosting = statement(
  'accounting.findEntriesByPosting',
  `select ${entryList('$before::timestamptz')}, entry.created_at::text as posted_at from journal_entries as entry
   where entry.workspace_id = $workspaceId and (entry.created_at, entry.id) > ($afterPosting::timestamptz, $afterId::uuid)
     and entry.created_at < $before::timestamptz
   order by entry.created_at, entry.id limit $limit`,
  {
    params: { workspaceId: uuid, before: instant, afterPosting: instant, afterId: uuid, limit: bigint },
    columns: positionedColumns,
  },
)

/** A page of entries posted before an instant, ordered by date, then by posting, after the last entry of the previous page. */
export const findEntriesByDate = statement(
  'accounting.findEntriesByDate',
  `select ${entryList('$before::timestamptz')}, entry.created_at::text as posted_at from journal_entries as entry
   where entry.workspace_id = $workspaceId
     and (entry.date, entry.created_at, entry.id) > ($afterDate::date, $afterPosting::timestamptz, $afterId::uuid)
     and entry.created_at < $before::timestamptz
   order by entry.date, entry.created_at, entry.id limit $limit`,
  {
    params: { workspaceId: uuid, before: instant, afterDate: date, afterPosting: instant, afterId: uuid, limit: bigint },
    columns: positionedColumns,
  },
)

const paymentEntryColumns = { id: uuid.notNull, source_id: text, total: numeric.notNull, currency: text.notNull }

/** An active entry of a payments record: it neither reverses another entry nor was reversed. */
export type PaymentEntry = RowOf<typeof paymentEntryColumns>

/** The active entries of payments records, in the order of their posting. */
export const findPaymentEntries = statement(
  'accounting.findPaymentEntries',
  `select ${selectList(paymentEntryColumns, 'entry')}
   from journal_entries as entry
   where entry.workspace_id = $workspaceId and entry.source_type = 'payment' and entry.source_id = any($recordIds::text[])
     and entry.reverses is null
     and not exists (
       select from journal_entries as reversal where reversal.workspace_id = entry.workspace_id and reversal.reverses = entry.id
     )
   order by entry.created_at, entry.id`,
  { params: { workspaceId: uuid, recordIds: texts }, columns: paymentEntryColumns },
)
