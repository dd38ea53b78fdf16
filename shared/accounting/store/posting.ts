import { instantText } from '#shared/accounting/store/instant.ts'
import { builder } from '#shared/db/builder.ts'
import { declareConflicts } from '#shared/db/conflicts.ts'
import { type Fill, slot, sql } from '#shared/db/statement.ts'
import { shaped, tableOf } from '#shared/records/statements.ts'
import type { RecordType } from '#shared/types/record-type.ts'

declareConflicts({ journal_entries_reverses: ['VALIDATION_ERROR', 'The entry is already reversed'] })

/** What came of posting: the entry, or, where `id` is null, what speaks against it. */
export interface Posted {
  readonly id: string | null
  readonly currency: string | null
  readonly created_at: string | null
  readonly default_currency: string
  readonly multi_currency: boolean
  readonly books_closed_through: string | null
  /** The place, counted from 1, of the first line whose account is no record of the workspace. */
  readonly unknown_line: number | null
}

/**
 * Posts an entry with its lines where the books of this moment allow it; one row says what came of it. Its transaction holds the ledger's
 * lock already, so the statement sees every account that has gone and every day that was closed, and its time is later than theirs, also
 * should the clock have been set back since the last seal or the last sums of months. An entry whose natural key is there already writes nothing.
 */
export const postEntryWithin = (accounts: RecordType): Fill =>
  shaped(accounts, 'post entry', () =>
    builder.raw(
      `with book as (
         select default_currency, multi_currency, books_closed_through,
           greatest(
             clock_timestamp(),
             (select until from ledger_seals where workspace_id = ?::uuid order by until desc, position desc limit 1),
             (select until from ledger_months_until where workspace_id = ?::uuid)
           ) as posted_at
         from workspaces where id = ?::uuid
       ),
       sent as (
         select id, account_id, debit, credit, memo, position
         from unnest(?::uuid[], ?::uuid[], ?::numeric[], ?::numeric[], ?::text[]) with ordinality
           as line (id, account_id, debit, credit, memo, position)
       ),
       unknown as (select min(position) as line from sent where not exists (select from ? as account where account.id = sent.account_id)),
       entry as (
         insert into journal_entries (
           workspace_id, id, date, memo, source_type, source_id, currency, total, line_count, reverses, natural_key, created_by, created_at
         )
         select ?::uuid, ?::uuid, ?::date, ?::text, ?::text, ?::text, coalesce(?::text, default_currency), ?::numeric, ?::smallint, ?::uuid,
           ?::text, ?::uuid, posted_at
         from book cross join unknown
         where unknown.line is null and (books_closed_through is null or ?::date > books_closed_through)
           and (multi_currency or coalesce(?::text, default_currency) = default_currency)
         on conflict (workspace_id, natural_key) where natural_key is not null do nothing
         returning workspace_id, id, date, currency, line_count, created_at
       ),
       lines as (
         insert into journal_lines (
           workspace_id, entry_id, position, id, account_id, debit, credit, memo, date, currency, line_count, created_at
         )
         select entry.workspace_id, entry.id, sent.position, sent.id, sent.account_id, sent.debit, sent.credit, sent.memo, entry.date,
           entry.currency, entry.line_count, entry.created_at
         from entry cross join sent
       )
       select entry.id, entry.currency, ${instantText('entry.created_at')} as created_at, book.default_currency, book.multi_currency,
         book.books_closed_through, unknown.line::integer as unknown_line
       from book cross join unknown left join entry on true`,
      [
        ...[
          slot('workspaceId'),
          slot('workspaceId'),
          slot('workspaceId'),
          slot('lineIds'),
          slot('accountIds'),
          slot('debits'),
          slot('credits'),
          slot('memos'),
        ],
        tableOf(accounts),
        ...[slot('workspaceId'), slot('id'), slot('date'), slot('memo'), slot('sourceType'), slot('sourceId'), slot('currency')],
        ...[slot('total'), slot('lineCount'), slot('reverses'), slot('naturalKey'), slot('createdBy'), slot('date'), slot('currency')],
      ] as never,
    ),
  )

/** The id of the entry with a natural key. Values: workspace, key. */
export const findByNaturalKey = sql(
  'find_entry_by_natural_key',
  'select id from journal_entries where workspace_id = $1 and natural_key = $2',
)

/** How many lines an account has. Values: workspace, account. */
export const countLines = sql(
  'count_journal_lines',
  'select count(*) as lines from journal_lines where workspace_id = $1 and account_id = $2',
)
