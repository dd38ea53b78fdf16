import { readRows, type Scope } from '#shared/core/scope/scope.ts'
import { type Amount, readAmount, requireCurrency } from '#shared/features/accounting/amount.ts'
import { requireDay, requireDayOrder } from '#shared/features/accounting/days.ts'
import { requestMonthSums } from '#shared/features/accounting/reports/month-sums.ts'
import { type AccountSums, type BalanceSpan, sumsByAccount } from '#shared/features/accounting/reports/store.ts'
import { findCurrencies } from '#shared/features/accounting/store.ts'
import { waitForPostings } from '#shared/features/accounting/wait-for-postings.ts'
import { asSearch } from '#shared/platform/db/statements/statement.ts'

/** The books that a report reads: one currency, now or as of an instant. */
export interface Books {
  readonly currency: string
  readonly currencies: string[]
  /** Exclusive instant; undefined to include everything posted until now. */
  readonly recordedBefore: string | undefined
}

/**
 * Reads the parameters that all reports share. Throws VALIDATION_ERROR for an unknown currency, and for an instant that is invalid or in
 * the future.
 */
export async function openBooks(
  scope: Scope,
  { currency = scope.workspace.default_currency, recorded_before }: { currency?: string | undefined; recorded_before?: string | undefined },
): Promise<Books> {
  const recordedBefore = recorded_before === undefined ? undefined : await waitForPostings(scope, recorded_before, 'recorded_before')
  const rows = await readRows(scope, findCurrencies({ workspaceId: scope.workspace.id, postedBefore: recordedBefore ?? 'infinity' }))
  const currencies = rows.map((row) => row.currency)
  requireCurrency(currency, currencies)
  return { currency, currencies, recordedBefore }
}

/** The days of a report; `from` defaults to the first day of the month or year of `to`, and `to` to today in UTC. */
export function readReportDays(
  { now }: Scope,
  { from, to }: { from?: string | undefined; to?: string | undefined },
  unit: 'month' | 'year',
): { readonly from: string; readonly to: string } {
  const last = to === undefined ? now().toISOString().slice(0, 10) : requireDay(to, 'to')
  const first =
    from === undefined ? `${last.slice(0, unit === 'month' ? 7 : 4)}${unit === 'month' ? '-01' : '-01-01'}` : requireDay(from, 'from')
  requireDayOrder(first, last)
  return { from: first, to: last }
}

/** The sums of an account's lines in a span of days. */
export interface Balance {
  readonly accountId: string
  readonly debit: Amount
  readonly credit: Amount
  /** Debit less credit. */
  readonly balance: Amount
}

/** The balances of all accounts over a span of days (all days by default), ordered by account id. Every report is built on them. */
export async function readBalances(scope: Scope, books: Books, days: Pick<BalanceSpan, 'from' | 'to'> = {}): Promise<Balance[]> {
  const rows = await readRows(scope, asSearch(sumsByAccount(querySpanOf(scope, books, days)), 'the span of days'))
  const recentLines = rows.reduce((sum, { recent }) => sum + recent, 0)
  if (books.recordedBefore === undefined) await requestMonthSums(scope, recentLines)
  return rows.map(balanceOf)
}

/** The span that the store sums for a report. */
export const querySpanOf = (
  { workspace }: Scope,
  { currency, recordedBefore }: Books,
  days: Pick<BalanceSpan, 'from' | 'to'>,
): BalanceSpan => ({
  workspaceId: workspace.id,
  currency,
  recordedBefore,
  ...days,
})

/** Converts an account's sums from decimal text. */
export function balanceOf({ account_id, ...sums }: AccountSums): Balance {
  const [debit, credit] = [readAmount(sums.debit), readAmount(sums.credit)]
  return { accountId: account_id, debit, credit, balance: debit - credit }
}
