import * as examples from '#api/features/accounting/examples.ts'
import { ids } from '#api/http/example-ids.ts'
import { answer, orgPath } from '#api/http/route.ts'
import { readBalanceSheet, readProfitLoss, readTrialBalance } from '#shared/features/accounting/reports/financial-statements.ts'
import { readLedger } from '#shared/features/accounting/reports/ledger.ts'
import { readAccountingOverview } from '#shared/features/accounting/reports/overview.ts'
import {
  accountingOverview,
  balanceSheet,
  balanceSheetQuery,
  ledger,
  ledgerQuery,
  overviewQuery,
  profitLoss,
  profitLossQuery,
  trialBalance,
  trialBalanceQuery,
} from '#shared/features/accounting/reports/schemas.ts'

const common = { tag: 'Accounting', app: 'accounting', limit: null, method: 'GET', permission: 'accounting:read', status: 200 } as const
const accounting = `${orgPath}/accounting` as const

/** Reports of the ledger in one currency, now or as of an instant. */
export const routes = [
  answer({
    ...common,
    path: `${accounting}/trial-balance`,
    summary: 'Get the trial balance',
    description: 'Totals per account. Debit and credit are gross, `balance` is debit less credit; in one currency.',
    example: { query: { currency: 'EUR' }, answer: examples.trialBalance },
    query: trialBalanceQuery,
    response: trialBalance,
    handle: ({ query }, scope) => readTrialBalance(scope, query),
  }),
  answer({
    ...common,
    path: `${accounting}/ledger`,
    summary: 'List the lines of an account with their running balance',
    description:
      'By date, then by posting. Opening, closing and running balances count all lines of the account, not only those of the page.',
    example: { query: { account: ids.cash, from: '2026-11-01', to: '2026-11-30', limit: 20 }, answer: examples.ledger },
    query: ledgerQuery,
    response: ledger,
    handle: ({ query }, scope) => readLedger(scope, query),
  }),
  answer({
    ...common,
    path: `${accounting}/overview`,
    summary: 'Get the headline figures',
    description: 'From `from` to `to`; by default from the first day of this month to today.',
    example: { query: { from: '2026-11-01', to: '2026-11-30', cash_accounts: ids.cash }, answer: examples.overview },
    query: overviewQuery,
    response: accountingOverview,
    handle: ({ query }, scope) => readAccountingOverview(scope, query),
  }),
  answer({
    ...common,
    path: `${accounting}/reports/profit-loss`,
    summary: 'Get profit and loss',
    description: 'From `from` to `to`; by default from the first day of this year to today.',
    example: { query: { from: '2026-11-01', to: '2026-11-30' }, answer: examples.profitLoss },
    query: profitLossQuery,
    response: profitLoss,
    handle: ({ query }, scope) => readProfitLoss(scope, query),
  }),
  answer({
    ...common,
    path: `${accounting}/reports/balance-sheet`,
    summary: 'Get the balance sheet',
    description: 'As of a day. `balanced` compares assets with liabilities, equity and earnings.',
    example: { query: { as_of: '2026-11-30' }, answer: examples.balanceSheet },
    query: balanceSheetQuery,
    response: balanceSheet,
    handle: ({ query }, scope) => readBalanceSheet(scope, query),
  }),
]
