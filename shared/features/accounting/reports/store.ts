import {
  date,
  instant,
  integer,
  numeric,
  type ParamsOf,
  type RowOf,
  text,
  texts,
  uuid,
  uuids,
} from '#shared/platform/db/statements/sql-types.ts'
import { type Statement, statement } from '#shared/platform/db/statements/statement.ts'
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

const sumColumns = {
  account_id: uuid.notNull,
  debit: numeric.notNull,
  credit: numeric.notNull,
  /** Number of lines in these sums that the month sums do not contain yet, so they were added up one by one. */
  recent: integer.notNull,
}

/** The sums of an account's debits and credits, as decimal text. */
export type AccountSums = RowOf<typeof sumColumns>

const spanParams = {
  workspaceId: uuid,
  currency: text,
  from: date,
  to: date,
  recordedBefore: instant,
  /** The first day of the first whole month. */
  firstMonth: date,
  /** The first day after the last whole month. */
  monthsEnd: date,
  /** The first day of the month after that of the last day. */
  nextMonth: date,
}

/**
 * The core of every report: a relation of accounts, days and amounts that adds up to the lines of a span. Whole months of the span come
 * from the month sums, which a worker keeps up to the instant `kept.until` (`month-sums.ts`). Other lines are read from `journal_lines`:
 * those dated before the first or after the last whole month, and those posted since `kept.until` (`recent`). The last day's month also
 * counts as whole when it has no lines dated after the last day. A report as of an instant before that of the month sums uses only lines.
 *
 * Recent lines are found by their instant: comparing expressions (`currency || ''`, `date + 0`) keeps the planner from using the index on
 * days, with which it would read every line of the span. Measured with a million lines of which none is recent: 0.1 ms instead of 360.
 */
const spanned = `(
  with kept as materialized (
    select
      coalesce((
        select until from ledger_months_until where workspace_id = $workspaceId and until <= $recordedBefore::timestamptz
      ), '-infinity') as until,
      case when exists (
        select from journal_lines as later
        where later.workspace_id = $workspaceId and later.currency = $currency and later.date > $to::date and later.date < $nextMonth::date
      ) then $monthsEnd::date else $nextMonth::date end as behind
  )
  select month.account_id, month.month as date, month.debit, month.credit, 0 as recent
  from kept join ledger_months as month
    on month.workspace_id = $workspaceId and month.currency = $currency and month.month >= $firstMonth::date
      and month.month < kept.behind and kept.until > '-infinity'
  union all
  select line.account_id, line.date, line.debit, line.credit, 0
  from kept join journal_lines as line
    on line.workspace_id = $workspaceId and line.currency = $currency and line.date >= $from::date and line.date <= $to::date
      and line.date < $firstMonth::date and line.created_at < kept.until
  union all
  select line.account_id, line.date, line.debit, line.credit, 0
  from kept join journal_lines as line
    on line.workspace_id = $workspaceId and line.currency = $currency and line.date >= greatest($firstMonth::date, kept.behind)
      and line.date <= $to::date and line.created_at < kept.until
  union all
  select line.account_id, line.date, line.debit, line.credit, 1
  from kept join journal_lines as line
    on line.workspace_id = $workspaceId and line.created_at >= kept.until and line.created_at < $recordedBefore::timestamptz
      and line.currency || '' = $currency and line.date + 0 >= $from::date and line.date + 0 <= $to::date
)`

function paramsOfSpan({ workspaceId, currency, from, to, recordedBefore = 'infinity' }: BalanceSpan): ParamsOf<typeof spanParams> {
  return {
    workspaceId,
    currency,
    recordedBefore,
    from: from ?? '-infinity',
    to: to ?? 'infinity',
    firstMonth: from === undefined ? '-infinity' : firstWholeMonth(from),
    monthsEnd: to === undefined ? 'infinity' : monthBehindWhole(to),
    nextMonth: to === undefined ? 'infinity' : nextMonth(to),
  }
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

const sumByAccount = statement(
  'accounting.sumByAccount',
  `select account_id, sum(debit) as debit, sum(credit) as credit, sum(recent)::integer as recent
   from ${spanned} as spanned group by account_id order by account_id`,
  { params: spanParams, columns: sumColumns },
)
/** The sums of a span by account. */
export const sumsByAccount = (span: BalanceSpan): Statement<AccountSums> => sumByAccount(paramsOfSpan(span))

const sumOfAccount = statement(
  'accounting.sumOfAccount',
  `select $accountId::uuid as account_id, coalesce(sum(debit), 0) as debit, coalesce(sum(credit), 0) as credit, 0 as recent
   from ${spanned} as spanned where account_id = $accountId::uuid`,
  { params: { ...spanParams, accountId: uuid }, columns: sumColumns },
)
/** The sums of a span for one account, zero without lines. */
export const sumsOfAccount = (span: BalanceSpan, accountId: string): Statement<AccountSums> =>
  sumOfAccount({ ...paramsOfSpan(span), accountId })

/** The sums of one month over the accounts of one kind. */
const monthColumns = {
  /** YYYY-MM. */
  month: text.notNull,
  kind: text.notNull,
  debit: numeric.notNull,
  credit: numeric.notNull,
}

const sumByMonth = statement(
  'accounting.sumByMonth',
  `select to_char(date, 'YYYY-MM') as month, account.kind, sum(debit) as debit, sum(credit) as credit
   from ${spanned} as spanned join unnest($accountIds::uuid[], $kinds::text[]) as account (id, kind) on account.id = account_id
   group by month, account.kind order by month, account.kind`,
  { params: { ...spanParams, accountIds: uuids, kinds: texts }, columns: monthColumns },
)
/** The sums of a span by month and kind, over the given accounts only. */
export const sumsByMonth = (
  span: BalanceSpan,
  accounts: readonly { readonly id: string; readonly kind: string }[],
): Statement<RowOf<typeof monthColumns>> =>
  sumByMonth({ ...paramsOfSpan(span), accountIds: accounts.map(({ id }) => id), kinds: accounts.map(({ kind }) => kind) })
