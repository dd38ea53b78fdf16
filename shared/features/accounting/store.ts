import { sql } from '#shared/platform/db/statements/statement.ts'

/**
 * The currencies that have lines posted before an instant, in alphabetical order. The query skips along the index from one currency to the
 * next, so its cost does not grow with the number of lines. Values: workspace, instant.
 */
export const findCurrencies = sql(
  'find_ledger_currencies',
  `with recursive held as (
     (select currency from journal_lines where workspace_id = $1 order by currency limit 1)
     union all
     select (
       select line.currency from journal_lines as line where line.workspace_id = $1 and line.currency > held.currency
       order by line.currency limit 1
     ) from held where held.currency is not null
   )
   select held.currency from held
   where held.currency is not null and exists (
     select from journal_lines as line where line.workspace_id = $1 and line.currency = held.currency and line.created_at < $2::timestamptz
   )
   order by held.currency`,
)

/** Returns the given instant, or the database's time for null, and as `is_ahead` whether it is in the future. Values: instant or null. */
export const readPostingInstant = sql(
  'find_ledger_instant',
  `select coalesce(sent.instant, clock_timestamp()) as instant, coalesce(sent.instant > clock_timestamp(), false) as is_ahead
   from (select $1::timestamptz as instant) as sent`,
)

/** The ids of all accounts with lines posted before an instant. Values: workspace, instant. */
export const findUsedAccounts = sql(
  'find_used_accounts',
  `select distinct account_id from journal_lines where workspace_id = $1 and created_at < $2::timestamptz order by account_id`,
)

/** A line of an account, with the columns that the lines are ordered by. */
export interface AccountLine {
  readonly entry_id: string
  readonly position: number
  readonly date: string
  readonly memo: string
  readonly debit: string
  readonly credit: string
  /** The instant of posting as PostgreSQL writes it; part of the position after which the next page begins. */
  readonly posted_at: string
}

/**
 * A page of an account's lines by date, then by posting. Values: workspace, account, currency, first day, last day, the instant before
 * which the lines were posted; date, instant, entry and position of the last line of the previous page; page size.
 */
export const findAccountLines = sql(
  'find_account_lines',
  `select line.entry_id, line.position, line.date, coalesce(nullif(line.memo, ''), entry.memo) as memo, line.debit, line.credit,
     line.created_at::text as posted_at
   from (
     select workspace_id, entry_id, position, date, memo, debit, credit, created_at from journal_lines
     where workspace_id = $1 and account_id = $2 and currency = $3 and date >= $4::date and date <= $5::date and created_at < $6::timestamptz
       and (date, created_at, entry_id, position) > ($7::date, $8::timestamptz, $9::uuid, $10::integer)
     order by date, created_at, entry_id, position limit $11
   ) as line
   join journal_entries as entry on entry.workspace_id = $1 and entry.id = line.entry_id
   order by line.date, line.created_at, line.entry_id, line.position`,
)

/** Whether an account has lines. Values: workspace, account. */
export const isAccountUsed = sql(
  'has_journal_lines',
  'select exists (select from journal_lines where workspace_id = $1 and account_id = $2) as is_used',
)

/**
 * The date of each account's last line on or before a day, null for an account without one. Values: workspace, accounts, currencies, day,
 * the instant before which the lines were posted.
 */
export const findLastDates = sql(
  'find_last_entry_dates',
  `select account.id as account_id, max(last.date) as last_entry_date
   from unnest($2::uuid[]) as account (id) cross join unnest($3::text[]) as held (currency)
   left join lateral (
     select line.date from journal_lines as line
     where line.workspace_id = $1 and line.account_id = account.id and line.currency = held.currency and line.date <= $4::date
       and line.created_at < $5::timestamptz
     order by line.date desc limit 1
   ) as last on true
   group by account.id order by account.id`,
)
