import type { Scope } from '#shared/core/scope/scope.ts'
import { writeAmount } from '#shared/features/accounting/amount.ts'
import { requireDay } from '#shared/features/accounting/days.ts'
import { openBooks, readBalances } from '#shared/features/accounting/reports/report.ts'
import type { BalanceSheet, BalanceSheetQuery } from '#shared/features/accounting/reports/schemas.ts'
import { classifyBalances } from '#shared/features/accounting/reports/sections.ts'

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
