import { type Statement, sql } from '#shared/db/statement.ts'

/** What is summed: the lines of a currency, of these days, as they were posted before an instant. */
export interface Span {
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
export interface Sums {
  readonly account_id: string
  readonly debit: string
  readonly credit: string
}

/**
 * The one core of every report: a relation of accounts, days and amounts whose sums are those of the lines that a span means. Values: the
 * workspace, the currency, the first and the last day, the instant.
 */
const spanned = `(
  select line.account_id, line.date, line.debit, line.credit from journal_lines as line
  where line.workspace_id = $1 and line.currency = $2 and line.date >= $3::date and line.date <= $4::date and line.created_at < $5::timestamptz
)`

const valuesOf = ({ workspaceId, currency, from, to, recordedBefore }: Span): readonly unknown[] => [
  ...[workspaceId, currency, from ?? '-infinity', to ?? 'infinity', recordedBefore ?? 'infinity'],
]

const byAccount = sql(
  'sum_lines_by_account',
  `select account_id, sum(debit) as debit, sum(credit) as credit from ${spanned} as spanned group by account_id order by account_id`,
)
/** The sums of a span by account. */
export const sumsByAccount = (span: Span): Statement => byAccount(...valuesOf(span))

const ofAccount = sql(
  'sum_lines_of_account',
  `select $6::uuid as account_id, coalesce(sum(debit), 0) as debit, coalesce(sum(credit), 0) as credit from ${spanned} as spanned
   where account_id = $6::uuid`,
)
/** The sums of a span for one account, zero without lines. */
export const sumsOfAccount = (span: Span, accountId: string): Statement => ofAccount(...valuesOf(span), accountId)

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
   from ${spanned} as spanned join unnest($6::uuid[], $7::text[]) as account (id, kind) on account.id = account_id
   group by month, account.kind order by month, account.kind`,
)
/** The sums of a span by month and kind, for the accounts whose kinds are given. */
export const sumsByMonth = (span: Span, accounts: readonly { readonly id: string; readonly kind: string }[]): Statement =>
  byMonth(
    ...valuesOf(span),
    accounts.map(({ id }) => id),
    accounts.map(({ kind }) => kind),
  )
