import { readRows, type Scope } from '#shared/core/scope/scope.ts'
import { type Account, compareAccounts, findAccounts } from '#shared/features/accounting/accounts/accounts.ts'
import { type Amount, readAmount, sumOf, writeAmount } from '#shared/features/accounting/amount.ts'
import { daysBefore, monthsUpTo } from '#shared/features/accounting/days.ts'
import { viewOfEntry } from '#shared/features/accounting/entries/find.ts'
import { countEntries, findEntries } from '#shared/features/accounting/entries/store.ts'
import { type Books, openBooks, querySpanOf, readBalances, readReportDays } from '#shared/features/accounting/reports/report.ts'
import type { AccountingOverview, OverviewQuery } from '#shared/features/accounting/reports/schemas.ts'
import { classifyBalances, signedAmount } from '#shared/features/accounting/reports/sections.ts'
import { sumsByMonth } from '#shared/features/accounting/reports/store.ts'
import { findLastDates } from '#shared/features/accounting/store.ts'
import { asSearch } from '#shared/platform/db/statements/statement.ts'
import { problem } from '#shared/platform/kernel/errors.ts'
import { isUuid } from '#shared/platform/kernel/ids.ts'

const monthsShown = 12
const recentShown = 10

/** Days after which an account without an entry is idle (docs/contract/accounting.md#overview). */
const idleDays = 90

/** Maximum number of `cash_accounts`. */
const maxCashAccounts = 200

/** Headline figures of a span of days; by default from the first day of this month to today. Throws VALIDATION_ERROR. */
export async function readAccountingOverview(scope: Scope, query: OverviewQuery): Promise<AccountingOverview> {
  const days = readReportDays(scope, query, 'month')
  const cashAccounts = parseCashAccounts(query.cash_accounts)
  const books = await openBooks(scope, query)
  const { currency, currencies, recordedBefore: before } = books
  const accounts = await findAccounts(scope)
  const { total } = await classifyBalances(scope, await readBalances(scope, books, days), currency)
  const filter = { currency, before }
  const [counted] = await readRows(scope, asSearch(countEntries(scope.workspace.id, { ...filter, ...days }), 'the span of days'))
  const recent = await readRows(scope, asSearch(findEntries(scope.workspace.id, filter, recentShown, 0), 'the span of days'))
  return {
    revenue: writeAmount(total('revenue'), currency),
    expense: writeAmount(total('expense'), currency),
    net: writeAmount(total('revenue') - total('expense'), currency),
    cash: writeAmount(await sumCash(scope, books, days.to, cashAccounts), currency),
    unclassified: writeAmount(total('unclassified'), currency),
    entry_count: counted?.total ?? 0,
    recent: recent.map(viewOfEntry),
    months: await readMonths(scope, books, days.to, accounts),
    idle_accounts: await findIdleAccounts(scope, books, days.to, accounts),
    currency,
    currencies,
  }
}

function parseCashAccounts(text = ''): ReadonlySet<string> {
  const ids = text === '' ? [] : text.split(',').map((id) => id.trim().toLowerCase())
  const invalidId = ids.find((id) => !isUuid(id))
  if (invalidId !== undefined)
    throw problem('VALIDATION_ERROR', `cash_accounts must be ids separated by commas, got ${invalidId.slice(0, 40)}`)
  if (ids.length > maxCashAccounts) throw problem('VALIDATION_ERROR', `cash_accounts must have at most ${maxCashAccounts} ids`)
  return new Set(ids)
}

async function sumCash(scope: Scope, books: Books, to: string, accounts: ReadonlySet<string>) {
  const found = accounts.size === 0 ? [] : await readBalances(scope, books, { to })
  return sumOf(found.filter(({ accountId }) => accounts.has(accountId)).map(({ balance }) => balance))
}

async function readMonths(
  scope: Scope,
  books: Books,
  to: string,
  accounts: ReadonlyMap<string, Account>,
): Promise<AccountingOverview['months']> {
  const months = monthsUpTo(to, monthsShown)
  const counted = [...accounts.values()].flatMap(({ id, kind }) => (kind === 'revenue' || kind === 'expense' ? [{ id, kind }] : []))
  const rows = await readRows(
    scope,
    asSearch(sumsByMonth(querySpanOf(scope, books, { from: `${months[0]}-01`, to }), counted), 'the span of days'),
  )
  const amount = (month: string, kind: 'revenue' | 'expense') => {
    const found = rows.find((row) => row.month === month && row.kind === kind)
    return found ? signedAmount(kind, readAmount(found.debit) - readAmount(found.credit)) : 0n
  }
  const write = (figure: Amount) => writeAmount(figure, books.currency)
  return months.map((month) => {
    const [revenue, expense] = [amount(month, 'revenue'), amount(month, 'expense')]
    return { month, revenue: write(revenue), expense: write(expense), net: write(revenue - expense) }
  })
}

/** Readable accounts without an entry in the last 90 days, ordered by code. */
async function findIdleAccounts(
  scope: Scope,
  { currencies, recordedBefore }: Books,
  to: string,
  accounts: ReadonlyMap<string, Account>,
): Promise<AccountingOverview['idle_accounts']> {
  const readable = [...accounts.values()].filter(({ isReadable }) => isReadable).sort(compareAccounts)
  const ids = readable.map(({ id }) => id)
  const postedBefore = recordedBefore ?? 'infinity'
  const rows = await readRows(scope, findLastDates({ workspaceId: scope.workspace.id, accountIds: ids, currencies, to, postedBefore }))
  const lastDates = new Map(rows.map((row) => [row.account_id, row.last_entry_date]))
  const since = daysBefore(to, idleDays)
  return readable
    .map(({ id, code, name }) => ({ account_id: id, code, name, last_entry_date: lastDates.get(id) ?? null }))
    .filter(({ last_entry_date: last }) => last === null || last <= since)
}
