import { accountHint, decimalSchema, entryShape } from '#shared/features/accounting/entries/schemas.ts'
import { nullable, schema, type TypeOf, t, uuid } from '#shared/platform/kernel/schema.ts'

/** Query parameters of every report. */
const commonQuery = {
  currency: t.Optional(t.String({ description: "ISO 4217 code; the workspace's default currency by default." })),
  recorded_before: t.Optional(
    t.String({
      description: 'An instant in the past (RFC 3339), exclusive: the report as it was then. Later postings are ignored.',
    }),
  ),
}
const from = t.Optional(t.String({ description: 'The first date, YYYY-MM-DD.' }))
const to = t.Optional(t.String({ description: 'The last date, YYYY-MM-DD.' }))

/** Keys of every report's answer. */
const commonFields = {
  currency: t.String({ description: 'The currency of every amount in the report.' }),
  currencies: t.Array(t.String(), { description: 'The currencies that the ledger has entries in.' }),
}
const codeAndName = {
  code: t.String({ description: 'Empty where the caller may not read it.' }),
  name: t.String({ description: 'Empty where the caller may not read it.' }),
}

export const trialBalanceQuery = schema(t.Object(commonQuery))
export type TrialBalanceQuery = TypeOf<typeof trialBalanceQuery>

/** Totals per account (docs/contract/accounting.md#trial-balance). */
export const trialBalance = schema(
  t.Object(
    {
      rows: t.Array(
        t.Object({
          account_id: uuid,
          debit: decimalSchema('Gross.'),
          credit: decimalSchema('Gross.'),
          balance: decimalSchema('Debit less credit.'),
        }),
      ),
      ...commonFields,
    },
    { title: 'TrialBalance' },
  ),
)
export type TrialBalance = TypeOf<typeof trialBalance>

export const exportQuery = schema(
  t.Object({
    format: t.Enum(['hledger', 'beancount', 'csv'], { description: 'hledger and beancount are journals in plain text.' }),
    recorded_before: commonQuery.recorded_before,
  }),
)

export const ledgerQuery = schema(
  t.Object({
    account: t.String({ format: 'uuid', description: 'Id of an account.', 'x-hint': accountHint }),
    from,
    to,
    ...commonQuery,
    limit: t.Integer({ minimum: 1, maximum: 10_000, default: 1_000 }),
    cursor: t.Optional(t.String({ description: 'next_cursor of the previous page, of the same query.' })),
  }),
)
export type LedgerQuery = TypeOf<typeof ledgerQuery>

/** One account's lines by date, then by posting. */
export const ledger = schema(
  t.Object(
    {
      rows: t.Array(
        t.Object({
          entry_id: uuid,
          date: t.String({ format: 'date' }),
          memo: t.String({ description: "The line's memo, or its entry's." }),
          debit: decimalSchema('Zero on a credit line.'),
          credit: decimalSchema('Zero on a debit line.'),
          balance: decimalSchema('Running: debit less credit up to this line.'),
        }),
      ),
      opening: decimalSchema('The balance before `from`.'),
      closing: decimalSchema('The balance at the end of `to`.'),
      ...commonFields,
      next_cursor: nullable(t.String({ description: 'Where the next page starts; null at the end.' })),
    },
    { title: 'Ledger' },
  ),
)
export type Ledger = TypeOf<typeof ledger>

const section = t.Object(
  {
    kind: t.String({ description: 'The kind of these accounts, or unclassified.' }),
    rows: t.Array(t.Object({ account_id: uuid, ...codeAndName, amount: decimalSchema('') })),
    total: decimalSchema('The sum of the rows.'),
  },
  { title: 'ReportSection' },
)
export type Section = TypeOf<ReturnType<typeof schema<typeof section>>>

export const profitLossQuery = schema(t.Object({ from, to, ...commonQuery }))
export type ProfitLossQuery = TypeOf<typeof profitLossQuery>

/** Revenue and expense of a span of days, and their difference. */
export const profitLoss = schema(
  t.Object(
    { revenue: section, expense: section, unclassified: section, net: decimalSchema('Revenue less expense.'), ...commonFields },
    { title: 'ProfitLoss', description: 'Revenue counts credit less debit, the others debit less credit.' },
  ),
)
export type ProfitLoss = TypeOf<typeof profitLoss>

export const balanceSheetQuery = schema(
  t.Object({ as_of: t.Optional(t.String({ description: 'YYYY-MM-DD; today by default.' })), ...commonQuery }),
)
export type BalanceSheetQuery = TypeOf<typeof balanceSheetQuery>

/** Assets, liabilities and equity at the end of a day. */
export const balanceSheet = schema(
  t.Object(
    {
      assets: section,
      liabilities: section,
      equity: section,
      unclassified: section,
      earnings: decimalSchema('Revenue less expense of all days up to `as_of`.'),
      balanced: t.Boolean({
        description: 'Whether assets equal liabilities plus equity plus earnings. False while unclassified accounts have a balance.',
      }),
      ...commonFields,
    },
    {
      title: 'BalanceSheet',
      description: 'Assets and unclassified accounts count debit less credit, liabilities and equity credit less debit.',
    },
  ),
)
export type BalanceSheet = TypeOf<typeof balanceSheet>

export const overviewQuery = schema(
  t.Object({
    from,
    to,
    cash_accounts: t.Optional(t.String({ description: 'Ids of the accounts that count as cash, separated by commas.' })),
    ...commonQuery,
  }),
)
export type OverviewQuery = TypeOf<typeof overviewQuery>

/** Headline figures of the ledger over a span of days. */
export const accountingOverview = schema(
  t.Object(
    {
      revenue: decimalSchema(''),
      expense: decimalSchema(''),
      net: decimalSchema('Revenue less expense.'),
      cash: decimalSchema('The balance of the cash accounts at the end of `to`.'),
      unclassified: decimalSchema('Debit less credit of the accounts without a kind.'),
      entry_count: t.Integer({ minimum: 0, description: 'Entries of these days.' }),
      recent: t.Array(entryShape, { description: 'The 10 entries posted last.' }),
      months: t.Array(
        t.Object({
          month: t.String({ description: 'YYYY-MM.' }),
          revenue: decimalSchema(''),
          expense: decimalSchema(''),
          net: decimalSchema(''),
        }),
        { description: 'Twelve months; the last one is the month of `to`, up to that day.' },
      ),
      idle_accounts: t.Array(t.Object({ account_id: uuid, ...codeAndName, last_entry_date: nullable(t.String({ format: 'date' })) }), {
        description: 'Accounts without an entry in any currency in the 90 days up to and including `to`.',
      }),
      ...commonFields,
    },
    { title: 'AccountingOverview' },
  ),
)
export type AccountingOverview = TypeOf<typeof accountingOverview>
