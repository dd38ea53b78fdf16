import type { Scope } from '#shared/core/scope/scope.ts'
import { writeAmount } from '#shared/features/accounting/amount.ts'
import { openBooks, readBalances } from '#shared/features/accounting/reports/report.ts'
import type { TrialBalance, TrialBalanceQuery } from '#shared/features/accounting/reports/schemas.ts'

/** Totals over all days of every account with lines in a currency. */
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
