import { accountHint, decimal, entryShape } from '#shared/accounting/entry.ts'
import { nullable, schema, type TypeOf, t } from '#shared/kernel/schema.ts'

const id = t.String({ format: 'uuid' })

/** What every report is asked for. */
const asked = {
  currency: t.Optional(t.String({ description: "ISO 4217 code; the workspace's default currency by default." })),
  recorded_before: t.Optional(
    t.String({
      description: 'An instant that is not ahead (RFC 3339), exclusive: the report as it was then. What is posted later changes nothing.',
    }),
  ),
}
const from = t.Optional(t.String({ description: 'The first date, YYYY-MM-DD.' }))
const to = t.Optional(t.String({ description: 'The last date, YYYY-MM-DD.' }))

/** What every report says of itself. */
const told = {
  currency: t.String({ description: 'The one currency of every amount here.' }),
  currencies: t.Array(t.String(), { description: 'Those that the books hold entries in.' }),
}
const codeAndName = {
  code: t.String({ description: 'Empty where the caller may not read it.' }),
  name: t.String({ description: 'Empty where the caller may not read it.' }),
}

export const trialBalanceQuery = schema(t.Object(asked))
export type TrialBalanceQuery = TypeOf<typeof trialBalanceQuery>

/** Totals per account (document 2, Accounting). */
export const trialBalance = schema(
  t.Object(
    {
      rows: t.Array(
        t.Object({ account_id: id, debit: decimal('Gross.'), credit: decimal('Gross.'), balance: decimal('Debit less credit.') }),
      ),
      ...told,
    },
    { title: 'TrialBalance' },
  ),
)
export type TrialBalance = TypeOf<typeof trialBalance>

export const exportQuery = schema(
  t.Object({
    format: t.Enum(['hledger', 'beancount', 'csv'], { description: 'hledger and beancount are journals in plain text.' }),
    recorded_before: asked.recorded_before,
  }),
)

export const ledgerQuery = schema(
  t.Object({
    account: t.String({ format: 'uuid', description: 'Id of an account.', 'x-hint': accountHint }),
    from,
    to,
    ...asked,
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
          entry_id: id,
          date: t.String({ format: 'date' }),
          memo: t.String({ description: "The line's memo, or its entry's." }),
          debit: decimal('Zero on a credit line.'),
          credit: decimal('Zero on a debit line.'),
          balance: decimal('Running: debit less credit up to this line.'),
        }),
      ),
      opening: decimal('The balance before `from`.'),
      closing: decimal('The balance at the end of `to`.'),
      ...told,
      next_cursor: nullable(t.String({ description: 'Where the next page starts; null at the end.' })),
    },
    { title: 'Ledger' },
  ),
)
export type Ledger = TypeOf<typeof ledger>

const section = t.Object(
  {
    kind: t.String({ description: 'The kind of these accounts, or unclassified.' }),
    rows: t.Array(t.Object({ account_id: id, ...codeAndName, amount: decimal('') })),
    total: decimal('The sum of the rows.'),
  },
  { title: 'ReportSection' },
)
export type Section = TypeOf<ReturnType<typeof schema<typeof section>>>

export const profitLossQuery = schema(t.Object({ from, to, ...asked }))
export type ProfitLossQuery = TypeOf<typeof profitLossQuery>

/** Revenue less expense of some days. */
export const profitLoss = schema(
  t.Object(
    { revenue: section, expense: section, unclassified: section, net: decimal('Revenue less expense.'), ...told },
    { title: 'ProfitLoss', description: 'Revenue counts credit less debit, the others debit less credit.' },
  ),
)
export type ProfitLoss = TypeOf<typeof profitLoss>

export const balanceSheetQuery = schema(
  t.Object({ as_of: t.Optional(t.String({ description: 'YYYY-MM-DD; today by default.' })), ...asked }),
)
export type BalanceSheetQuery = TypeOf<typeof balanceSheetQuery>

/** What is owned and owed at the end of a day. */
export const balanceSheet = schema(
  t.Object(
    {
      assets: section,
      liabilities: section,
      equity: section,
      unclassified: section,
      earnings: decimal('All revenue less expense until then.'),
      balanced: t.Boolean({
        description: 'Whether assets equal liabilities, equity and earnings: not while something unclassified is not zero.',
      }),
      ...told,
    },
    {
      title: 'BalanceSheet',
      description: 'Assets and what is unclassified count debit less credit, liabilities and equity credit less debit.',
    },
  ),
)
export type BalanceSheet = TypeOf<typeof balanceSheet>

export const overviewQuery = schema(
  t.Object({
    from,
    to,
    cash_accounts: t.Optional(t.String({ description: 'Ids of the accounts that count as cash, separated by commas.' })),
    ...asked,
  }),
)
export type OverviewQuery = TypeOf<typeof overviewQuery>

/** Headline figures. */
export const overview = schema(
  t.Object(
    {
      revenue: decimal(''),
      expense: decimal(''),
      net: decimal('Revenue less expense.'),
      cash: decimal('The balance of the cash accounts at the end of `to`.'),
      unclassified: decimal('Debit less credit of the accounts without a kind.'),
      entry_count: t.Integer({ minimum: 0, description: 'Entries of these days.' }),
      recent: t.Array(entryShape, { description: 'The 10 that were posted last.' }),
      months: t.Array(
        t.Object({ month: t.String({ description: 'YYYY-MM.' }), revenue: decimal(''), expense: decimal(''), net: decimal('') }),
        { description: 'Twelve, of which the last is that of `to`, up to that day.' },
      ),
      idle_accounts: t.Array(t.Object({ account_id: id, ...codeAndName, last_entry_date: nullable(t.String({ format: 'date' })) }), {
        description: 'Accounts without an entry in any currency in the 90 days that end with `to`.',
      }),
      ...told,
    },
    { title: 'AccountingOverview' },
  ),
)
export type Overview = TypeOf<typeof overview>
