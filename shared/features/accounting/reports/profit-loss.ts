import type { Scope } from '#shared/core/scope/scope.ts'
import { writeAmount } from '#shared/features/accounting/amount.ts'
import { openBooks, readBalances, readReportDays } from '#shared/features/accounting/reports/report.ts'
import type { ProfitLoss, ProfitLossQuery } from '#shared/features/accounting/reports/schemas.ts'
import { classifyBalances } from '#shared/features/accounting/reports/sections.ts'

/** Revenue and expense of a span of days; by default from the first day of this year to today. */
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
