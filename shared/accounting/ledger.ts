import { findAccounts } from '#shared/accounting/accounts.ts'
import { type Amount, readAmount, writeAmount } from '#shared/accounting/amount.ts'
import { dayBefore, requireDay } from '#shared/accounting/days.ts'
import { type Balance, type Books, balanceOf, openBooks, requireOrder, spanOf } from '#shared/accounting/report.ts'
import type { Ledger, LedgerQuery } from '#shared/accounting/report-schemas.ts'
import { type Span, type Sums, sumsOfAccount } from '#shared/accounting/store/balances.ts'
import { type AccountLine, findAccountLines, hasLines } from '#shared/accounting/store/books.ts'
import { heavy } from '#shared/db/statement.ts'
import { makeCursor, readCursor } from '#shared/kernel/cursor.ts'
import { problem } from '#shared/kernel/errors.ts'
import { readRows, type Scope } from '#shared/scope/scope.ts'

/**
 * One account's lines with their running balance, by date, then by posting. A page goes on from the line and the balance that the one before
 * ended with, so its cost does not depend on how deep it lies. Throws VALIDATION_ERROR, also for an account that is neither a record that
 * the caller may read nor in any entry.
 */
export async function ledgerOf(scope: Scope, query: LedgerQuery): Promise<Ledger> {
  const { limit, cursor } = query
  const account = query.account.toLowerCase()
  const from = query.from === undefined ? undefined : requireDay(query.from, 'from')
  const to = query.to === undefined ? undefined : requireDay(query.to, 'to')
  requireOrder(from, to)
  const books = await openBooks(scope, query)
  await requireAccount(scope, account)
  const { currency, currencies, recordedBefore } = books
  const list = ['ledger', scope.workspace.id, account, currency, from, to, recordedBefore].join(' ')
  const before = from === undefined ? undefined : dayBefore(from)
  const opening = before === undefined ? 0n : (await sums(scope, books, account, { to: before })).balance
  const closing = (await sums(scope, books, account, { to })).balance
  const start = cursor === undefined ? { ...beforeAll, balance: opening } : placeOf(readCursor(list, cursor))
  const found = await readRows<AccountLine>(
    scope,
    findAccountLines(
      ...[scope.workspace.id, account, currency, from ?? '-infinity', to ?? 'infinity', recordedBefore ?? 'infinity'],
      ...[start.date, start.posted_at, start.entry_id, start.position, limit + 1],
    ),
  )
  let balance = start.balance
  const rows = found.slice(0, limit).map(({ entry_id, date, memo, ...line }) => {
    const [debit, credit] = [readAmount(line.debit), readAmount(line.credit)]
    balance += debit - credit
    const [shownDebit, shownCredit, shownBalance] = [debit, credit, balance].map((amount) => writeAmount(amount, currency))
    return { entry_id, date, memo, debit: shownDebit ?? '', credit: shownCredit ?? '', balance: shownBalance ?? '' }
  })
  const last = found.length > limit ? found[limit - 1] : undefined
  return {
    rows,
    opening: writeAmount(opening, currency),
    closing: writeAmount(closing, currency),
    currency,
    currencies,
    next_cursor: last ? makeCursor(list, positionOf({ ...last, balance })) : null,
  }
}

async function sums(scope: Scope, books: Books, account: string, days: Pick<Span, 'from' | 'to'>): Promise<Balance> {
  const [row] = await readRows<Sums>(scope, heavy(sumsOfAccount(spanOf(scope, books, days), account), 'the span of days'))
  return balanceOf(row ?? { account_id: account, debit: '0', credit: '0', recent: 0 })
}

/** A line after which a page begins, and the balance up to it. */
interface Place {
  readonly date: string
  readonly posted_at: string
  readonly entry_id: string
  readonly position: number
  readonly balance: Amount
}

const beforeAll = { date: '-infinity', posted_at: '-infinity', entry_id: '00000000-0000-0000-0000-000000000000', position: 0 }

const positionOf = ({ date, posted_at, entry_id, position, balance }: Place): string =>
  [date, posted_at, entry_id, position, balance].join('|')

/** The place of a position that `positionOf` made: a cursor carries a checksum, so this one did. */
function placeOf(text: string): Place {
  const [date = '', posted_at = '', entry_id = '', position, balance = '0'] = text.split('|')
  return { date, posted_at, entry_id, position: Number(position), balance: BigInt(balance) }
}

async function requireAccount(scope: Scope, account: string): Promise<void> {
  if ((await findAccounts(scope, [account])).get(account)?.isReadable) return
  const [found] = await readRows<{ is_used: boolean }>(scope, hasLines(scope.workspace.id, account))
  if (!found?.is_used) throw problem('VALIDATION_ERROR', 'account must be the id of an accounts record')
}
