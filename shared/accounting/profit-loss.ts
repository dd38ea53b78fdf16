import { writeAmount } from '#shared/accounting/amount.ts'
import { balances, daysOf, openBooks } from '#shared/accounting/report.ts'
import type { ProfitLoss, ProfitLossQuery } from '#shared/accounting/report-schemas.ts'
import { classify } from '#shared/accounting/sections.ts'
import type { Scope } from '#shared/scope/scope.ts'

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
