import { sql } from '#shared/platform/db/statements/statement.ts'

/**
 * The currencies of all lines that were posted before an instant, in the order of the alphabet. It goes from one to the next along the
 * index, whatever the number of lines. Values: workspace, instant.
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

/** An instant, now without one, and whether it has not come yet, by the database's clock. Values: instant. */
export const readPostingInstant = sql(
  'find_ledger_instant',
  `select coalesce(sent.instant, clock_timestamp()) as instant, coalesce(sent.instant > clock_timestamp(), false) as is_ahead
   from (select $1::timestamptz as instant) as sent`,
)

/** All accounts that have lines. Values: workspace, the instant before which they were posted. */
export const findUsedAccounts = sql(
  'find_used_accounts',
  `select distinct account_id from journal_lines where workspace_id = $1 and created_at < $2::timestamptz order by account_id`,
)

/** A line of an account, with what orders it. */
export interface AccountLine {
  readonly entry_id: string
  readonly position: number
  readonly date: string
  readonly memo: string
  readonly debit: string
  readonly credit: string
  /** As the database writes it, for the next page. */
  readonly posted_at: string
}

/**
 * A page of an account's lines by date, then by posting. Values: workspace, account, currency, first and last day, recorded before, then
 * date, posting time, entry and place of the line to go on after, and how many.
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

/** Whether an account has any line. Values: workspace, account. */
export const isAccountUsed = sql(
  'has_journal_lines',
  'select exists (select from journal_lines where workspace_id = $1 and account_id = $2) as is_used',
)

/**
 * The last date of each account on or before a day, null where there is none. Values: workspace, accounts, currencies, day, recorded before.
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
