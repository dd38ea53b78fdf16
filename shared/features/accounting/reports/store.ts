import { type Statement, sql } from '#shared/platform/db/statements/statement.ts'
import { nextDay } from '#shared/platform/kernel/time/instant.ts'

/** Selects the lines to sum: of one currency, dated in a span of days, posted before an instant. */
export interface BalanceSpan {
  readonly workspaceId: string
  readonly currency: string
  /** The first day; without it, the span has no beginning. */
  readonly from?: string | undefined
  /** The last day; without it, the span has no end. */
  readonly to?: string | undefined
  /** Exclusive instant of posting; without it, everything posted until now. */
  readonly recordedBefore?: string | undefined
}

/** The sums of an account's debits and credits, as decimal text. */
export interface AccountSums {
  readonly account_id: string
  readonly debit: string
  readonly credit: string
  /** Number of lines in these sums that the month sums do not contain yet, so they were added up one by one. */
  readonly recent: number
}

/**
 * The core of every report: a relation of accounts, days and amounts that adds up to the lines of a span. Whole months of the span come
 * from the month sums, which a worker keeps up to the instant `kept.until` (`month-sums.ts`). Other lines are read from `journal_lines`:
 * those dated before the first or after the last whole month, and those posted since `kept.until` (`recent`). The last day's month also
 * counts as whole when it has no lines dated after the last day. A report as of an instant before that of the month sums uses only lines.
 * Values: workspace, currency, first day, last day, instant, first day of the first whole month, first day after the last whole month,
 * first day of the month after the last day's.
 */
/**
 * Recent lines are found by their instant: comparing expressions (`currency || ''`, `date + 0`) keeps the planner from using the index on
 * days, with which it would read every line of the span. Measured with a million lines of which none is recent: 0.1 ms instead of 360.
 */
const spanned = `(
  with kept as materialized (
    select
      coalesce((select until from ledger_months_until where workspace_id = $1 and until <= $5::timestamptz), '-infinity') as until,
      case when exists (
        select from journal_lines as later
        where later.workspace_id = $1 and later.currency = $2 and later.date > $4::date and later.date < $8::date
      ) then $7::date else $8::date end as behind
  )
  select month.account_id, month.month as date, month.debit, month.credit, 0 as recent
  from kept join ledger_months as month
    on month.workspace_id = $1 and month.currency = $2 and month.month >= $6::date and month.month < kept.behind and kept.until > '-infinity'
  union all
  select line.account_id, line.date, line.debit, line.credit, 0
  from kept join journal_lines as line
    on line.workspace_id = $1 and line.currency = $2 and line.date >= $3::date and line.date <= $4::date and line.date < $6::date
      and line.created_at < kept.until
  union all
  select line.account_id, line.date, line.debit, line.credit, 0
  from kept join journal_lines as line
    on line.workspace_id = $1 and line.currency = $2 and line.date >= greatest($6::date, kept.behind) and line.date <= $4::date
      and line.created_at < kept.until
  union all
  select line.account_id, line.date, line.debit, line.credit, 1
  from kept join journal_lines as line
    on line.workspace_id = $1 and line.created_at >= kept.until and line.created_at < $5::timestamptz
      and line.currency || '' = $2 and line.date + 0 >= $3::date and line.date + 0 <= $4::date
)`

function valuesOf({ workspaceId, currency, from, to, recordedBefore }: BalanceSpan): readonly unknown[] {
  const first = from === undefined ? '-infinity' : firstWholeMonth(from)
  const behind = to === undefined ? ['infinity', 'infinity'] : [monthBehindWhole(to), nextMonth(to)]
  return [workspaceId, currency, from ?? '-infinity', to ?? 'infinity', recordedBefore ?? 'infinity', first, ...behind]
}

/** The first day of the first month that begins on or after a day. */
const firstWholeMonth = (day: string): string => (day.endsWith('-01') ? day : nextMonth(day))

/** The first day after the last month that ends on or before a day. */
const monthBehindWhole = (day: string): string => (nextDay(day).endsWith('-01') ? nextDay(day) : `${day.slice(0, 8)}01`)

/** The first day of the month after that of a day. After 9999-12 comes 10000-01-01, which PostgreSQL can read. */
function nextMonth(day: string): string {
  const [year = 0, month = 0] = day.split('-').map(Number)
  return month === 12 ? `${String(year + 1).padStart(4, '0')}-01-01` : `${day.slice(0, 5)}${String(month + 1).padStart(2, '0')}-01`
}

const byAccount = sql(
  'sum_lines_by_account',
  `select account_id, sum(debit) as debit, sum(credit) as credit, sum(recent)::integer as recent from ${spanned} as spanned group by account_id order by account_id`,
)
/** The sums of a span by account. */
export const sumsByAccount = (span: BalanceSpan): Statement => byAccount(...valuesOf(span))

const ofAccount = sql(
  'sum_lines_of_account',
  `select $9::uuid as account_id, coalesce(sum(debit), 0) as debit, coalesce(sum(credit), 0) as credit, 0 as recent from ${spanned} as spanned
   where account_id = $9::uuid`,
)
/** The sums of a span for one account, zero without lines. */
export const sumsOfAccount = (span: BalanceSpan, accountId: string): Statement => ofAccount(...valuesOf(span), accountId)

/** The sums of one month over the accounts of one kind. */
export interface MonthSums {
  /** YYYY-MM. */
  readonly month: string
  readonly kind: string
  readonly debit: string
  readonly credit: string
}

const byMonth = sql(
  'sum_lines_by_month',
  `select to_char(date, 'YYYY-MM') as month, account.kind, sum(debit) as debit, sum(credit) as credit
   from ${spanned} as spanned join unnest($9::uuid[], $10::text[]) as account (id, kind) on account.id = account_id
   group by month, account.kind order by month, account.kind`,
)
/** The sums of a span by month and kind, over the given accounts only. */
export const sumsByMonth = (span: BalanceSpan, accounts: readonly { readonly id: string; readonly kind: string }[]): Statement =>
  byMonth(
    ...valuesOf(span),
    accounts.map(({ id }) => id),
    accounts.map(({ kind }) => kind),
  )
