import { sql } from '#shared/platform/db/statements/statement.ts'

/** Maximum number of lines that one transaction adds to the month sums, which takes about two seconds. */
const linesPerStep = 500_000

/** Creates, unless it exists, the row with the instant up to which the month sums contain all lines (`until`). Values: workspace. */
export const insertMonthProgress = sql(
  'begin_ledger_months',
  `insert into ledger_months_until (workspace_id, until) values ($1, '-infinity') on conflict (workspace_id) do nothing`,
)

/**
 * Locks the row of `insertMonthProgress`; returns `until`, and as `is_done` whether it has reached a given instant. Values: workspace,
 * instant.
 */
export const lockMonthProgress = sql(
  'lock_ledger_months',
  'select until::text as until, until >= $2::timestamptz as is_done from ledger_months_until where workspace_id = $1 for update',
)

/**
 * The exclusive end of the next step: just after the last line of a full step, or the given instant when fewer lines are left. Values:
 * workspace, start of the step, instant.
 */
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

/**
 * Adds the lines posted from `since` (inclusive) to `until` (exclusive) to the month sums, and saves the new `until`. Values: workspace,
 * since, until.
 */
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
