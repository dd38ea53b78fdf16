import { declareConflicts } from '#shared/platform/db/database-errors.ts'
import {
  bigint,
  date,
  instant,
  integer,
  numeric,
  numerics,
  type RowOf,
  smallint,
  text,
  texts,
  uuid,
  uuids,
} from '#shared/platform/db/statements/sql-types.ts'
import { statement } from '#shared/platform/db/statements/statement.ts'

declareConflicts({ journal_entries_reverses: ['VALIDATION_ERROR', 'The entry is already reversed'] })

const columns = {
  id: uuid,
  currency: text,
  created_at: instant,
  /** The rule that refused the entry; null when it was posted, and when the workspace has one with the same deduplication key. */
  refusal: text.as<'unknown_account' | 'closed_date' | 'other_currency'>(),
  /** This and the next are the workspace's settings. A workspace that does not exist gives no row. */
  default_currency: text.notNull,
  books_closed_through: date,
  /** Position, counted from 1, of the first of the checked account ids that has no record in the workspace; null when all have one. */
  unknown_account_position: integer,
}

/** The outcome of a posting: the entry, or, when `id` is null, why none was posted. */
export type PostingResult = RowOf<typeof columns>

const posting = (conflict: string): string =>
  `with book as materialized (
     select *, case
       when unknown_line is not null then 'unknown_account'
       when $date::date <= books_closed_through then 'closed_date'
       when not multi_currency and $currency::text <> default_currency then 'other_currency'
     end as refusal
     from open_ledger($workspaceId::uuid, $schema::text, $checkedAccountIds::uuid[])
   ),
   entry as (
     insert into journal_entries (
       workspace_id, id, date, memo, source_type, source_id, currency, total, line_count, reverses, deduplication_key, created_by, created_at
     )
     select $workspaceId::uuid, $id::uuid, $date::date, $memo::text, $sourceType::text, $sourceId::text,
       coalesce($currency::text, default_currency), $total::numeric, $lineCount::smallint,
       $reverses::uuid, $deduplicationKey::text, $createdBy::uuid, posted_at
     from book where refusal is null ${conflict}
     returning workspace_id, id, date, currency, line_count, created_at
   ),
   lines as (
     insert into journal_lines (
       workspace_id, entry_id, position, id, account_id, debit, credit, memo, date, currency, line_count, created_at
     )
     select entry.workspace_id, entry.id, sent.position, sent.id, sent.account_id, sent.debit, sent.credit, sent.memo, entry.date,
       entry.currency, entry.line_count, entry.created_at
     from entry cross join unnest($lineIds::uuid[], $accountIds::uuid[], $debits::numeric[], $credits::numeric[], $memos::text[])
       with ordinality as sent (id, account_id, debit, credit, memo, position)
   ),
   announced as (
     insert into event_inbox (workspace_id, event_id, type, source, event, topic, subject_id, subject, snapshot, cause)
     select workspace_id, uuidv7(), 'ledger.entry.' || change, 'ledger', 'entry.' || change, '', subject_id, jsonb_build_object('id', subject_id),
       jsonb_strip_nulls(jsonb_build_object('date', date, 'reversal_id', reversal_id))
         || jsonb_build_object('source_type', $sourceType::text, 'source_id', $sourceId::text),
       $cause::text::jsonb
     from entry cross join lateral (
       select coalesce($reverses::uuid, id) as subject_id, case when $reverses::uuid is not null then id end as reversal_id,
         case when $reverses::uuid is null then 'posted' else 'reversed' end as change
     ) as told
   )
   select entry.id, entry.currency, entry.created_at, book.refusal, book.default_currency, book.books_closed_through,
     book.unknown_line as unknown_account_position
   from book left join entry on true`

const params = {
  workspaceId: uuid,
  /** The database schema of the workspace's tables. */
  schema: text,
  id: uuid,
  date,
  memo: text,
  sourceType: text,
  sourceId: text.orNull,
  /** Null for the workspace's default currency. */
  currency: text.orNull,
  total: numeric,
  lineCount: smallint,
  /** Id of the reversed entry. */
  reverses: uuid.orNull,
  deduplicationKey: text.orNull,
  createdBy: uuid.orNull,
  /** Ids, accounts, debits, credits and memos of the lines. */
  lineIds: uuids,
  accountIds: uuids,
  debits: numerics,
  credits: numerics,
  memos: texts,
  /** Accounts whose records are looked up. */
  checkedAccountIds: uuids,
  /** JSON text. */
  cause: text,
}

/**
 * Posts an entry with its lines if the books allow it, and returns one `PostingResult`, also for a refusal. The statement calls
 * `open_ledger` (migrations/0008-accounting.ts), which takes the ledger's lock and reads the books afterwards: it sees every account deleted
 * and every date closed until then. The entry's instant is at least the `until` of the last seal and of the month sums, also when the clock
 * was set back since.
 */
export const insertEntry = statement('accounting.insertEntry', posting(''), { params, columns })

/**
 * As `insertEntry`, but posts nothing when the workspace has an entry with the same deduplication key; `id` is then null. Looking for the
 * key costs the database 4 % more per posting, so entries without a key use `insertEntry`.
 */
export const insertEntryOnce = statement(
  'accounting.insertEntryOnce',
  posting('on conflict (workspace_id, deduplication_key) where deduplication_key is not null do nothing'),
  { params, columns },
)

/** The id of the entry with a deduplication key. */
export const findEntryIdByKey = statement(
  'accounting.findEntryIdByKey',
  'select id from journal_entries where workspace_id = $workspaceId and deduplication_key = $deduplicationKey',
  { params: { workspaceId: uuid, deduplicationKey: text }, columns: { id: uuid.notNull } },
)

/** The number of an account's lines. */
export const countLines = statement(
  'accounting.countLines',
  'select count(*) as lines from journal_lines where workspace_id = $workspaceId and account_id = $accountId',
  { params: { workspaceId: uuid, accountId: uuid }, columns: { lines: bigint.notNull } },
)
