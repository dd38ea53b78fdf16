import { sql } from '#shared/platform/db/statements/statement.ts'

/** Lines that one transaction adds to the sums of months: about two seconds. */
const linesPerStep = 500_000

/** Makes the place where it is noted how far the sums reach. Values: workspace. */
export const insertMonthProgress = sql(
  'begin_ledger_months',
  `insert into ledger_months_until (workspace_id, until) values ($1, '-infinity') on conflict (workspace_id) do nothing`,
)

/** Locks how far the sums reach, and whether that is as far as an instant. Values: workspace, instant. */
export const lockMonthProgress = sql(
  'lock_ledger_months',
  'select until::text as until, until >= $2::timestamptz as is_done from ledger_months_until where workspace_id = $1 for update',
)

/** How far one step may go: just behind the last of so many lines, or to the instant when there are fewer. Values: workspace, since, instant. */
export const findMonthStep = sql(
  'find_ledger_months_step',
  `select case when count(*) = ${linesPerStep} then (max(created_at) + interval '1 microsecond')::text else $3::timestamptz::text end as until,
     count(*) < ${linesPerStep} as is_last
   from (
     select line.created_at from journal_lines as line
     where line.workspace_id = $1 and line.created_at >= $2::timestamptz and line.created_at < $3::timestamptz
     order by line.created_at limit ${linesPerStep}
   ) as step`,
)

/** Adds the lines that were posted in between to the sums of their months, and notes it. Values: workspace, since, until. */
export const addMonthSums = sql(
  'add_to_ledger_months',
  `with added as (
     insert into ledger_months as kept (workspace_id, currency, account_id, month, debit, credit)
     select $1::uuid, line.currency, line.account_id, date_trunc('month', line.date)::date, sum(line.debit), sum(line.credit)
     from journal_lines as line
     where line.workspace_id = $1 and line.created_at >= $2::timestamptz and line.created_at < $3::timestamptz
     group by line.currency, line.account_id, date_trunc('month', line.date)
     on conflict (workspace_id, currency, account_id, month)
       do update set debit = kept.debit + excluded.debit, credit = kept.credit + excluded.credit
   )
   update ledger_months_until set until = $3::timestamptz where workspace_id = $1`,
)
