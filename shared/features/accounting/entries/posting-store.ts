import { declareConflicts } from '#shared/platform/db/database-errors.ts'
import { sql } from '#shared/platform/db/statements/statement.ts'

declareConflicts({ journal_entries_reverses: ['VALIDATION_ERROR', 'The entry is already reversed'] })

/** The outcome of a posting: the entry, or, when `id` is null, the facts that explain why none was posted. */
export interface PostingResult {
  readonly id: string | null
  readonly currency: string | null
  readonly created_at: string | null
  /** This and the next two are the workspace's settings, also after a refusal. A workspace that does not exist gives no row. */
  readonly default_currency: string
  readonly multi_currency: boolean
  readonly books_closed_through: string | null
  /** Position, counted from 1, of the first of the checked account ids that has no record in the workspace; null when all have one. */
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
 * Posts an entry with its lines if the books allow it, and returns one `PostingResult`, also for a refusal. The statement calls
 * `open_ledger` (migrations/0008-accounting.ts), which takes the ledger's lock and reads the books afterwards: it sees every account deleted
 * and every date closed until then. The entry's instant is at least the `until` of the last seal and of the month sums, also when the clock
 * was set back since. Values: workspace, its schema, id, date, memo, source type, source id, currency or null, total, number of lines, id
 * of the reversed entry, deduplication key, actor; ids, accounts, debits, credits and memos of the lines; ids of the accounts to check.
 */
export const insertEntry = sql('post_entry', posting(''))

/**
 * As `insertEntry`, but posts nothing when the workspace has an entry with the same deduplication key; `id` is then null. Looking for the
 * key costs the database 4 % more per posting, so entries without a key use `insertEntry`.
 */
export const insertEntryOnce = sql(
  'post_entry_once',
  posting('on conflict (workspace_id, natural_key) where natural_key is not null do nothing'),
)

/** The id of the entry with a deduplication key. Values: workspace, key. */
export const findByDeduplicationKey = sql(
  'find_entry_by_natural_key',
  'select id from journal_entries where workspace_id = $1 and natural_key = $2',
)

/** The number of an account's lines. Values: workspace, account. */
export const countLines = sql(
  'count_journal_lines',
  'select count(*) as lines from journal_lines where workspace_id = $1 and account_id = $2',
)
