import { declareConflicts } from '#shared/platform/db/database-errors.ts'
import { sql } from '#shared/platform/db/statements/statement.ts'

declareConflicts({ journal_entries_reverses: ['VALIDATION_ERROR', 'The entry is already reversed'] })

/** What came of posting: the entry, or, where `id` is null, what speaks against it. */
export interface PostingResult {
  readonly id: string | null
  readonly currency: string | null
  readonly created_at: string | null
  /** The books as they are; no row comes back where the workspace is gone. */
  readonly default_currency: string
  readonly multi_currency: boolean
  readonly books_closed_through: string | null
  /** The place, counted from 1, of the first of the accounts looked for that is no record of the workspace. */
  readonly unknown_account: number | null
}

const posting = (conflict: string): string => `with book as materialized (select * from open_ledger($1::uuid, $2::text, $19::uuid[])),
   entry as (
     insert into journal_entries (
       workspace_id, id, date, memo, source_type, source_id, currency, total, line_count, reverses, natural_key, created_by, created_at
     )
     select $1::uuid, $3::uuid, $4::date, $5::text, $6::text, $7::text, coalesce($8::text, default_currency), $9::numeric, $10::smallint,
       $11::uuid, $12::text, $13::uuid, posted_at
     from book
     where unknown_line is null and (books_closed_through is null or $4::date > books_closed_through)
       and (multi_currency or coalesce($8::text, default_currency) = default_currency)
     ${conflict}
     returning workspace_id, id, date, currency, line_count, created_at
   ),
   lines as (
     insert into journal_lines (
       workspace_id, entry_id, position, id, account_id, debit, credit, memo, date, currency, line_count, created_at
     )
     select entry.workspace_id, entry.id, sent.position, sent.id, sent.account_id, sent.debit, sent.credit, sent.memo, entry.date,
       entry.currency, entry.line_count, entry.created_at
     from entry cross join unnest($14::uuid[], $15::uuid[], $16::numeric[], $17::numeric[], $18::text[]) with ordinality
       as sent (id, account_id, debit, credit, memo, position)
   )
   select entry.id, entry.currency, entry.created_at, book.default_currency, book.multi_currency,
     book.books_closed_through, book.unknown_line as unknown_account
   from book left join entry on true`

/**
 * Posts an entry with its lines where the books of this moment allow it; one row says what came of it. The ledger's lock is taken in the
 * same statement, by a function that looks at the books after that, so the entry comes after every account that has gone and every day that
 * was closed, and its time is later than theirs, also should the clock have been set back since the last seal or the last sums of months.
 * Values: workspace, its schema, id, date, memo, source type and id, currency or null, total, number of lines, the entry that it
 * reverses, natural key, actor; ids, accounts, debits, credits and memos of the lines; the accounts to look for.
 */
export const insertEntry = sql('post_entry', posting(''))

/** The same for an entry with a natural key: where it is there already, nothing is written. It costs a backend 4 % more, so others go without. */
export const insertEntryOnce = sql(
  'post_entry_once',
  posting('on conflict (workspace_id, natural_key) where natural_key is not null do nothing'),
)

/** The id of the entry with a natural key. Values: workspace, key. */
export const findByDeduplicationKey = sql(
  'find_entry_by_natural_key',
  'select id from journal_entries where workspace_id = $1 and natural_key = $2',
)

/** How many lines an account has. Values: workspace, account. */
export const countLines = sql(
  'count_journal_lines',
  'select count(*) as lines from journal_lines where workspace_id = $1 and account_id = $2',
)
