import type { Scope } from '#shared/core/scope/scope.ts'
import { writeAmount } from '#shared/features/accounting/amount.ts'
import { balances, daysOf, openBooks } from '#shared/features/accounting/reports/report.ts'
import type { ProfitLoss, ProfitLossQuery } from '#shared/features/accounting/reports/schemas.ts'
import { classify } from '#shared/features/accounting/reports/sections.ts'

/** Revenue and expense of a span of days; by default from the first day of this year to today. */
export async function profitLossOf(scope: Scope, query: ProfitLossQuery): Promise<ProfitLoss> {
  const days = daysOf(scope, query, 'year')
  const books = await openBooks(scope, query)
  const { currency, currencies } = books
  const { total, section } = await classify(scope, await balances(scope, books, days), currency)
  return {
    revenue: section('revenue'),
    expense: section('expense'),
    unclassified: section('unclassified'),
    net: writeAmount(total('revenue') - total('expense'), currency),
    currency,
    currencies,
  }
}
