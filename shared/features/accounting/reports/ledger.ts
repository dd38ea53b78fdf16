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
import { makeCursor, readCursor } from '#shared/platform/kernel/cursor.ts'
import { problem } from '#shared/platform/kernel/errors.ts'
import { lowestId } from '#shared/platform/kernel/ids.ts'

/**
 * One account's lines with their running balance, by date, then by posting. The cursor holds the last line and balance of the previous
 * page, so every page costs the same. A page of 10 MB ends early. Throws VALIDATION_ERROR for an invalid parameter, and for an account id with neither a readable
 * record nor lines.
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
  const listKey = ['ledger', scope.workspace.id, account, currency, from, to, recordedBefore].join(' ')
  const before = from === undefined ? undefined : dayBefore(from)
  const opening = before === undefined ? 0n : (await readAccountBalance(scope, books, account, { to: before })).balance
  const closing = (await readAccountBalance(scope, books, account, { to })).balance
  const start = cursor === undefined ? { ...beforeFirstLine, balance: opening } : parsePosition(readCursor(listKey, cursor))
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
  let balance = start.balance
  const rows = page.map(({ entry_id, date, memo, ...line }) => {
    const [debit, credit] = [readAmount(line.debit), readAmount(line.credit)]
    balance += debit - credit
    const [shownDebit, shownCredit, shownBalance] = [debit, credit, balance].map((amount) => writeAmount(amount, currency))
    return { entry_id, date, memo, debit: shownDebit ?? '', credit: shownCredit ?? '', balance: shownBalance ?? '' }
  })
  const last = hasMore ? page.at(-1) : undefined
  return {
    rows,
    opening: writeAmount(opening, currency),
    closing: writeAmount(closing, currency),
    currency,
    currencies,
    next_cursor: last ? makeCursor(listKey, formatPosition({ ...last, balance })) : null,
  }
}

async function readAccountBalance(scope: Scope, books: Books, account: string, days: Pick<BalanceSpan, 'from' | 'to'>): Promise<Balance> {
  const [row] = await readRows(scope, asSearch(sumsOfAccount(querySpanOf(scope, books, days), account), 'the span of days'))
  return balanceOf(row ?? { account_id: account, debit: '0', credit: '0', recent: 0 })
}

/** The line after which a page begins, and the balance up to and including it. */
interface LedgerPosition {
  readonly date: string
  readonly posted_at: string
  readonly entry_id: string
  readonly position: number
  readonly balance: Amount
}

const beforeFirstLine = { date: '-infinity', posted_at: '-infinity', entry_id: lowestId, position: 0 }

const formatPosition = ({ date, posted_at, entry_id, position, balance }: LedgerPosition): string =>
  [date, posted_at, entry_id, position, balance].join('|')

/** Parses text that `formatPosition` made; the cursor's checksum proves its origin, so it is not validated again. */
function parsePosition(text: string): LedgerPosition {
  const [date = '', posted_at = '', entry_id = '', position, balance = '0'] = text.split('|')
  return { date, posted_at, entry_id, position: Number(position), balance: BigInt(balance) }
}

async function requireAccount(scope: Scope, account: string): Promise<void> {
  if ((await findAccounts(scope, [account])).get(account)?.isReadable) return
  const [found] = await readRows(scope, isAccountUsed({ workspaceId: scope.workspace.id, accountId: account }))
  if (!found?.is_used) throw problem('VALIDATION_ERROR', 'account must be the id of an accounts record')
}
