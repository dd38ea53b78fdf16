import {
  bigint,
  boolean,
  date,
  instant,
  integer,
  numeric,
  smallint,
  text,
  texts,
  uuid,
  uuids,
} from '#shared/platform/db/statements/sql-types.ts'
import { statement } from '#shared/platform/db/statements/statement.ts'

/**
 * The currencies that have lines posted before an instant, in alphabetical order. The query skips along the index from one currency to the
 * next, so its cost does not grow with the number of lines.
 */
export const findCurrencies = statement(
  'accounting.findCurrencies',
  `with recursive held as (
     (select currency from journal_lines where workspace_id = $workspaceId order by currency limit 1)
     union all
     select (
       select line.currency from journal_lines as line where line.workspace_id = $workspaceId and line.currency > held.currency
       order by line.currency limit 1
     ) from held where held.currency is not null
   )
   select held.currency from held
   where held.currency is not null and exists (
     select from journal_lines as line
     where line.workspace_id = $workspaceId and line.currency = held.currency and line.created_at < $postedBefore::timestamptz
   )
   order by held.currency`,
  { params: { workspaceId: uuid, postedBefore: instant }, columns: { currency: text.notNull } },
)

/** Returns the given instant, or the database's time for null, and as `is_ahead` whether it is in the future. */
export const readPostingInstant = statement(
  'accounting.readPostingInstant',
  `select coalesce(sent.instant, clock_timestamp()) as instant, coalesce(sent.instant > clock_timestamp(), false) as is_ahead
   from (select $instant::timestamptz as instant) as sent`,
  { params: { instant: instant.orNull }, columns: { instant: instant.notNull, is_ahead: boolean.notNull } },
)

/** The ids of all accounts with lines posted before an instant. */
export const findUsedAccounts = statement(
  'accounting.findUsedAccounts',
  `select distinct account_id from journal_lines
   where workspace_id = $workspaceId and created_at < $postedBefore::timestamptz
   order by account_id`,
  { params: { workspaceId: uuid, postedBefore: instant }, columns: { account_id: uuid.notNull } },
)

const lineColumns = {
  entry_id: uuid.notNull,
  position: smallint.notNull,
  date: date.notNull,
  memo: text.notNull,
  debit: numeric.notNull,
  credit: numeric.notNull,
  /** The instant of posting; part of the position after which the next page begins. */
  posted_at: instant.notNull,
}

/** A page of an account's lines by date, then by posting, after the last line of the previous page. */
export const findAccountLines = statement(
  'accounting.findAccountLines',
  `select line.entry_id, line.position, line.date, coalesce(nullif(line.memo, ''), entry.memo) as memo, line.debit, line.credit,
     line.created_at as posted_at
   from (
     select workspace_id, entry_id, position, date, memo, debit, credit, created_at from journal_lines
     where workspace_id = $workspaceId and account_id = $accountId and currency = $currency
       and date >= $from::date and date <= $to::date and created_at < $postedBefore::timestamptz
       and (date, created_at, entry_id, position) > ($afterDate::date, $afterPosting::timestamptz, $afterEntryId::uuid, $afterPosition::integer)
     order by date, created_at, entry_id, position limit $limit
   ) as line
   join journal_entries as entry on entry.workspace_id = $workspaceId and entry.id = line.entry_id
   order by line.date, line.created_at, line.entry_id, line.position`,
  {
    params: {
      workspaceId: uuid,
      accountId: uuid,
      currency: text,
      from: date,
      to: date,
      postedBefore: instant,
      afterDate: date,
      afterPosting: instant,
      afterEntryId: uuid,
      afterPosition: integer,
      limit: bigint,
    },
    columns: lineColumns,
  },
)

/** Whether an account has lines. */
export const isAccountUsed = statement(
  'accounting.isAccountUsed',
  'select exists (select from journal_lines where workspace_id = $workspaceId and account_id = $accountId) as is_used',
  { params: { workspaceId: uuid, accountId: uuid }, columns: { is_used: boolean.notNull } },
)

/** The date of each account's last line on or before a day and posted before an instant; null for an account without one. */
export const findLastDates = statement(
  'accounting.findLastDates',
  `select account.id as account_id, max(last.date) as last_entry_date
   from unnest($accountIds::uuid[]) as account (id) cross join unnest($currencies::text[]) as held (currency)
   left join lateral (
     select line.date from journal_lines as line
     where line.workspace_id = $workspaceId and line.account_id = account.id and line.currency = held.currency and line.date <= $to::date
       and line.created_at < $postedBefore::timestamptz
     order by line.date desc limit 1
   ) as last on true
   group by account.id order by account.id`,
  {
    params: { workspaceId: uuid, accountIds: uuids, currencies: texts, to: date, postedBefore: instant },
    columns: { account_id: uuid.notNull, last_entry_date: date },
  },
)
