import { createReader, readRows, type Scope } from '#shared/core/scope/scope.ts'
import { findAccounts } from '#shared/features/accounting/accounts/accounts.ts'
import { type Amount, readAmount, writeAmount } from '#shared/features/accounting/amount.ts'
import { dayBefore, requireDay, requireDayOrder } from '#shared/features/accounting/days.ts'
import { type Balance, type Books, balanceOf, openBooks, querySpanOf } from '#shared/features/accounting/reports/report.ts'
import type { Ledger, LedgerQuery } from '#shared/features/accounting/reports/schemas.ts'
import { type BalanceSpan, sumsOfAccount } from '#shared/features/accounting/reports/store.ts'
import { findAccountLines, isAccountUsed } from '#shared/features/accounting/store.ts'
import { readPage } from '#shared/platform/db/lists.ts'
import { asSearch } from '#shared/platform/db/statements/statement.ts'
import { cursorProblem, makeCursor, readCursor } from '#shared/platform/kernel/cursor.ts'
import { problem } from '#shared/platform/kernel/errors.ts'
import { lowestId } from '#shared/platform/kernel/ids.ts'
import { instant, schema, type TypeOf, t, uuid } from '#shared/platform/kernel/schema.ts'

/**
 * One account's lines with their running balance, by date, then by posting. The cursor holds the last line and balance of the previous
 * page, so every page costs the same. A page of 10 MB ends early. Throws VALIDATION_ERROR for an invalid parameter, and for an account id
 * with neither a readable record nor lines.
 */
export async function readLedger(scope: Scope, query: LedgerQuery): Promise<Ledger> {
  const { limit, cursor } = query
  const account = query.account.toLowerCase()
  const from = query.from === undefined ? undefined : requireDay(query.from, 'from')
  const to = query.to === undefined ? undefined : requireDay(query.to, 'to')
  requireDayOrder(from, to)
  const books = await openBooks(scope, query)
  await requireAccount(scope, account)
  const { currency, currencies, recordedBefore } = books
  const before = from === undefined ? undefined : dayBefore(from)
  const opening = before === undefined ? 0n : (await readAccountBalance(scope, books, account, { to: before })).balance
  const closing = (await readAccountBalance(scope, books, account, { to })).balance
  const start = cursor === undefined ? { ...beforeFirstLine, balance: opening } : readLine(scope, cursor, currency)
  const { page, hasMore } = await readPage(
    createReader(scope),
    findAccountLines({
      workspaceId: scope.workspace.id,
      accountId: account,
      currency,
      from: from ?? '-infinity',
      to: to ?? 'infinity',
      postedBefore: recordedBefore ?? 'infinity',
      afterDate: start.date,
      afterPosting: start.posted_at,
      afterEntryId: start.entry_id,
      afterPosition: start.position,
      limit: limit + 1,
    }),
    limit,
  )
  const write = (amount: Amount) => writeAmount(amount, currency)
  let balance = start.balance
  const rows = page.map(({ entry_id, date, memo, ...line }) => {
    const [debit, credit] = [readAmount(line.debit), readAmount(line.credit)]
    balance += debit - credit
    return { entry_id, date, memo, debit: write(debit), credit: write(credit), balance: write(balance) }
  })
  const last = hasMore ? page.at(-1) : undefined
  return {
    rows,
    opening: write(opening),
    closing: write(closing),
    currency,
    currencies,
    next_cursor: last ? makeCursor(scope, lineAt(last, balance, currency)) : null,
  }
}

async function readAccountBalance(scope: Scope, books: Books, account: string, days: Pick<BalanceSpan, 'from' | 'to'>): Promise<Balance> {
  const [row] = await readRows(scope, asSearch(sumsOfAccount(querySpanOf(scope, books, days), account), 'the span of days'))
  return balanceOf(row ?? { account_id: account, debit: '0', credit: '0', recent: 0 })
}

const beforeFirstLine = { date: '-infinity', posted_at: '-infinity', entry_id: lowestId, position: 0 }

/**
 * The line after which a page begins, and the balance up to and including it. The currency is part of it: a query without one means the
 * workspace's, which may change between two pages, and the balance would be in another one.
 */
const linePosition = schema(
  t.Object({
    date: t.String({ format: 'date' }),
    posted_at: instant,
    entry_id: uuid,
    position: t.Integer({ minimum: 0, maximum: 32_767 }),
    balance: t.String({ pattern: String.raw`^-?\d{1,60}$` }),
    currency: t.String(),
  }),
)

const lineAt = (
  { date, posted_at, entry_id, position }: Omit<TypeOf<typeof linePosition>, 'balance' | 'currency'>,
  balance: Amount,
  currency: string,
): TypeOf<typeof linePosition> => ({ date, posted_at, entry_id, position, balance: String(balance), currency })

/** Returns the line in a cursor. Throws VALIDATION_ERROR like `readCursor`, and for a cursor of another currency. */
function readLine(scope: Scope, cursor: string, currency: string): Omit<TypeOf<typeof linePosition>, 'balance'> & { balance: Amount } {
  const line = readCursor(scope, cursor, linePosition)
  if (line.currency !== currency) throw cursorProblem()
  return { ...line, balance: BigInt(line.balance) }
}

async function requireAccount(scope: Scope, account: string): Promise<void> {
  if ((await findAccounts(scope, [account])).get(account)?.isReadable) return
  const [found] = await readRows(scope, isAccountUsed({ workspaceId: scope.workspace.id, accountId: account }))
  if (!found?.is_used) throw problem('VALIDATION_ERROR', 'account must be the id of an accounts record')
}
