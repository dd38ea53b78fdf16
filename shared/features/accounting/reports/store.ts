import { type Statement, sql } from '#shared/platform/db/statements/statement.ts'
import { nextDay } from '#shared/platform/kernel/time/instant.ts'

/** What is summed: the lines of a currency, of these days, as they were posted before an instant. */
export interface BalanceSpan {
  readonly workspaceId: string
  readonly currency: string
  /** The first day; every earlier one too without it. */
  readonly from?: string | undefined
  /** The last day; every later one too without it. */
  readonly to?: string | undefined
  /** Exclusive; what has been posted until now without it. */
  readonly recordedBefore?: string | undefined
}

/** The sums of an account's debits and credits, as decimal text. */
export interface AccountSums {
  readonly account_id: string
  readonly debit: string
  readonly credit: string
  /** How many of them were summed up line by line, because no kept sum holds them. */
  readonly recent: number
}

/**
 * The one core of every report: a relation of accounts, days and amounts whose sums are those of the lines that a span means. Months that lie
 * in the span as a whole come from the sums that a worker keeps (`months.ts`), as far as those reach; the rest from the lines themselves:
 * those of the days before and after the whole months, and the `recent` ones, which the kept sums do not hold yet. A last month in which
 * nothing is dated after the span counts as whole. A report as of an instant before the kept sums goes by lines alone. Values: the workspace,
 * the currency, the first and the last day, the instant, the first whole month, the one behind the last whole one, and the one behind the
 * last day's.
 */
// Of the recent lines, currency and days are compared as expressions, which no index holds, so that the planner finds them by their posting:
// by days it reads every line of the span (measured, a million lines of which none is recent: 360 ms instead of 0.1).
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

/** The first day of the first month that begins on a day or after it. */
const firstWholeMonth = (day: string): string => (day.endsWith('-01') ? day : nextMonth(day))

/** The first day behind the last month that ends on a day or before it. */
const monthBehindWhole = (day: string): string => (nextDay(day).endsWith('-01') ? nextDay(day) : `${day.slice(0, 8)}01`)

/** The first day of the month after a day's; after 9999-12 comes 10000-01-01, which PostgreSQL reads. */
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

/** A month's sums over accounts that are counted together. */
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
/** The sums of a span by month and kind, for the accounts whose kinds are given. */
export const sumsByMonth = (span: BalanceSpan, accounts: readonly { readonly id: string; readonly kind: string }[]): Statement =>
  byMonth(
    ...valuesOf(span),
    accounts.map(({ id }) => id),
    accounts.map(({ kind }) => kind),
  )
