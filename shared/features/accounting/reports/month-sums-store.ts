import { boolean, instant, text, uuid } from '#shared/platform/db/statements/sql-types.ts'
import { statement } from '#shared/platform/db/statements/statement.ts'

/** Maximum number of lines that one transaction adds to the month sums, which takes about two seconds. */
const linesPerStep = 500_000

/** Creates, unless it exists, the row with the instant up to which the month sums contain all lines (`until`). */
export const insertMonthProgress = statement(
  'accounting.insertMonthProgress',
  `insert into ledger_months_until (workspace_id, until) values ($workspaceId, '-infinity') on conflict (workspace_id) do nothing`,
  { params: { workspaceId: uuid } },
)

/** Locks the row of `insertMonthProgress`; returns `until`, and as `is_done` whether it has reached the given instant. */
export const lockMonthProgress = statement(
  'accounting.lockMonthProgress',
  `select until::text as until, until >= $end::timestamptz as is_done
   from ledger_months_until where workspace_id = $workspaceId for update`,
  { params: { workspaceId: uuid, end: instant }, columns: { until: text.notNull, is_done: boolean.notNull } },
)

/**
 * The exclusive end of the next step: just after the last line of a full step, or the given end when fewer lines are left.
 */
export const findMonthStep = statement(
  'accounting.findMonthStep',
  `select case when count(*) = ${linesPerStep} then (max(created_at) + interval '1 microsecond')::text else $end::timestamptz::text end as until,
     count(*) < ${linesPerStep} as is_last
   from (
     select line.created_at from journal_lines as line
     where line.workspace_id = $workspaceId and line.created_at >= $since::timestamptz and line.created_at < $end::timestamptz
     order by line.created_at limit ${linesPerStep}
   ) as step`,
  {
    params: { workspaceId: uuid, since: instant, end: instant },
    columns: { until: text.notNull, is_last: boolean.notNull },
  },
)

/** Adds the lines posted from `since` (inclusive) to `until` (exclusive) to the month sums, and saves the new `until`. */
export const addMonthSums = statement(
  'accounting.addMonthSums',
  `with added as (
     insert into ledger_months as kept (workspace_id, currency, account_id, month, debit, credit)
     select $workspaceId::uuid, line.currency, line.account_id, date_trunc('month', line.date)::date, sum(line.debit), sum(line.credit)
     from journal_lines as line
     where line.workspace_id = $workspaceId and line.created_at >= $since::timestamptz and line.created_at < $until::timestamptz
     group by line.currency, line.account_id, date_trunc('month', line.date)
     on conflict (workspace_id, currency, account_id, month)
       do update set debit = kept.debit + excluded.debit, credit = kept.credit + excluded.credit
   )
   update ledger_months_until set until = $until::timestamptz where workspace_id = $workspaceId`,
  { params: { workspaceId: uuid, since: instant, until: instant } },
)
