import type { Scope } from '#shared/core/scope/scope.ts'
import { writeAmount } from '#shared/features/accounting/amount.ts'
import { requireDay } from '#shared/features/accounting/days.ts'
import { openBooks, readBalances, readReportDays } from '#shared/features/accounting/reports/report.ts'
import type {
  BalanceSheet,
  BalanceSheetQuery,
  ProfitLoss,
  ProfitLossQuery,
  TrialBalance,
  TrialBalanceQuery,
} from '#shared/features/accounting/reports/schemas.ts'
import { classifyBalances } from '#shared/features/accounting/reports/sections.ts'

/** Debit, credit and balance over all days, for each account with lines in the currency. */
export async function readTrialBalance(scope: Scope, query: TrialBalanceQuery): Promise<TrialBalance> {
  const books = await openBooks(scope, query)
  const { currency, currencies } = books
  const rows = (await readBalances(scope, books)).map(({ accountId, debit, credit, balance }) => ({
    account_id: accountId,
    debit: writeAmount(debit, currency),
    credit: writeAmount(credit, currency),
    balance: writeAmount(balance, currency),
  }))
  return { rows, currency, currencies }
}

/** Revenue and expense of a span of days: `to` is today in UTC by default, `from` the first day of the year of `to`. */
export async function readProfitLoss(scope: Scope, query: ProfitLossQuery): Promise<ProfitLoss> {
  const days = readReportDays(scope, query, 'year')
  const books = await openBooks(scope, query)
  const { currency, currencies } = books
  const { total, section } = await classifyBalances(scope, await readBalances(scope, books, days), currency)
  return {
    revenue: section('revenue'),
    expense: section('expense'),
    unclassified: section('unclassified'),
    net: writeAmount(total('revenue') - total('expense'), currency),
    currency,
    currencies,
  }
}

/** Assets, liabilities and equity at the end of a day, today in UTC by default. */
export async function readBalanceSheet(scope: Scope, query: BalanceSheetQuery): Promise<BalanceSheet> {
  const to = query.as_of === undefined ? scope.now().toISOString().slice(0, 10) : requireDay(query.as_of, 'as_of')
  const books = await openBooks(scope, query)
  const { currency, currencies } = books
  const { total, section } = await classifyBalances(scope, await readBalances(scope, books, { to }), currency)
  const earnings = total('revenue') - total('expense')
  return {
    assets: section('asset'),
    liabilities: section('liability'),
    equity: section('equity'),
    unclassified: section('unclassified'),
    earnings: writeAmount(earnings, currency),
    balanced: total('asset') === total('liability') + total('equity') + earnings,
    currency,
    currencies,
  }
}
