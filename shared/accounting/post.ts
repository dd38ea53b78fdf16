import { type Amount, isEmptySide, parseAmount, sumOf, writeAmount } from '#shared/accounting/amount.ts'
import { requireCurrency } from '#shared/accounting/currency.ts'
import { requireDay } from '#shared/accounting/days.ts'
import { getEntry } from '#shared/accounting/entries.ts'
import type { Entry, EntryInput, EntryLine } from '#shared/accounting/entry.ts'
import { countPosted } from '#shared/accounting/metrics.ts'
import { accountsOf } from '#shared/accounting/posted-accounts.ts'
import { findByNaturalKey, type Posted, postEntryOnce, postEntryWithin } from '#shared/accounting/store/posting.ts'
import { problem } from '#shared/kernel/errors.ts'
import { newId } from '#shared/kernel/ids.ts'
import type { Scope } from '#shared/scope/scope.ts'
import { schemaOf } from '#shared/types/tables.ts'

/** A line as it is posted: one of its sides is zero. */
export interface Line {
  readonly accountId: string
  readonly debit: Amount
  readonly credit: Amount
  readonly memo: string
}

/** An entry as it is posted; without a currency it is in the workspace's own. */
export interface Draft {
  readonly date: string
  readonly memo: string
  readonly sourceType: string
  readonly sourceId: string | null
  readonly currency: string | null
  readonly reverses: string | null
  readonly lines: readonly Line[]
}

/** How an entry is posted. */
export interface PostOptions {
  /** Names what makes the entry where that may be done again, such as a run, node and iteration: the same key again gives the first entry. */
  readonly naturalKey?: string
}

/**
 * Posts an entry: the route, the SDK and the flow block. Throws VALIDATION_ERROR for what breaks an entry rule (document 2, Accounting), a
 * closed date, another currency than the workspace's in single-currency books, and an account that is no record.
 */
export function postEntry(scope: Scope, input: EntryInput, { naturalKey }: PostOptions = {}): Promise<Entry> {
  return post(scope, draftOf(scope, input), naturalKey)
}

/** Posts what is balanced already, such as a reversal. */
export async function post(scope: Scope, draft: Draft, naturalKey?: string): Promise<Entry> {
  const { db, workspace, actor } = scope
  const { date, memo, sourceType: source_type, sourceId: source_id, reverses } = draft
  const id = newId()
  const lines = draft.lines.map((line) => ({ id: newId(), ...line }))
  const total = sumOf(lines.map(({ debit }) => debit))
  const accounts = await accountsOf(scope, lines)
  const statement = naturalKey === undefined ? postEntryWithin : postEntryOnce
  const [posted] = await db.query<Posted>(
    statement(
      ...[workspace.id, schemaOf(workspace.id), id, date, memo, source_type, source_id, draft.currency, plain(total), lines.length],
      ...[reverses, naturalKey ?? null, actor.id],
      lines.map((line) => line.id),
      lines.map(({ accountId }) => accountId),
      lines.map(({ debit }) => plain(debit)),
      lines.map(({ credit }) => plain(credit)),
      lines.map(({ memo }) => memo),
      accounts.toLookFor,
    ),
  )
  if (posted?.id && posted.currency && posted.created_at) {
    const { currency, created_at } = posted
    accounts.noteLines()
    db.afterCommit(() => countPosted(reverses !== null))
    const views = lines.map((line): EntryLine => viewOf(line, currency))
    const entry = { id, date, memo, source_type, source_id, total: writeAmount(total, currency), currency, created_at, lines: views }
    return reverses === null ? entry : { ...entry, reverses }
  }
  const first = naturalKey === undefined ? undefined : await entryOf(scope, naturalKey)
  return first ?? refuse(draft, posted, accounts.toLookFor)
}

const plain = (amount: Amount): string => writeAmount(amount, 'XXX')

function viewOf({ id, accountId, debit, credit, memo }: Line & { readonly id: string }, currency: string): EntryLine {
  return { id, account_id: accountId, debit: writeAmount(debit, currency), credit: writeAmount(credit, currency), memo }
}

/** Throws what speaks against an entry that was not posted. */
function refuse({ date, currency, reverses, lines }: Draft, posted: Posted | undefined, lookedFor: readonly string[]): never {
  if (!posted) throw problem('NOT_FOUND')
  const { unknown_account, books_closed_through: closed, default_currency, multi_currency } = posted
  if (unknown_account !== null) {
    const place = lines.findIndex(({ accountId }) => accountId === lookedFor[unknown_account - 1])
    throw problem(
      'VALIDATION_ERROR',
      `lines[${place}].account_id must be the id of an accounts record of this workspace; GET …/records/accounts lists them`,
    )
  }
  if (closed !== null && date <= closed) {
    const way = reverses === null ? '' : '; send a {"date"} that is open to reverse it on that day'
    throw problem('VALIDATION_ERROR', `date ${date} is closed: the books are closed through ${closed}${way}`)
  }
  if (!multi_currency && currency !== null && currency !== default_currency) {
    throw problem('VALIDATION_ERROR', `currency must be ${default_currency}: the workspace keeps its books in its default currency only`)
  }
  throw problem('INTERNAL', undefined, { cause: new Error('An entry was neither posted nor refused') })
}

/** The entry that was posted under a natural key before. */
async function entryOf(scope: Scope, naturalKey: string): Promise<Entry | undefined> {
  const [found] = await scope.db.query<{ id: string }>(findByNaturalKey(scope.workspace.id, naturalKey))
  return found && getEntry(scope, found.id)
}

/** Reads what is posted, by the entry rules of document 2. */
function draftOf({ workspace, now }: Scope, input: EntryInput): Draft {
  const currency = input.currency ?? null
  if (currency !== null) requireCurrency(currency)
  const date = input.date == null ? now().toISOString().slice(0, 10) : requireDay(input.date, 'date')
  const lines = input.lines.map(lineOf)
  const [debits, credits] = [sumOf(lines.map(({ debit }) => debit)), sumOf(lines.map(({ credit }) => credit))]
  if (debits !== credits) {
    const [debit, credit] = [debits, credits].map((total) => writeAmount(total, currency ?? workspace.default_currency))
    throw problem('VALIDATION_ERROR', `lines must balance: debits are ${debit}, credits are ${credit}`)
  }
  const { memo, source_type, source_id } = input
  return { date, memo: memo ?? '', sourceType: source_type ?? 'manual', sourceId: source_id ?? null, currency, reverses: null, lines }
}

function lineOf({ account_id, debit, credit, memo }: EntryInput['lines'][number], index: number): Line {
  const path = `lines[${index}]`
  const [noDebit, noCredit] = [isEmptySide(debit), isEmptySide(credit)]
  if (noDebit && noCredit) throw problem('VALIDATION_ERROR', `${path} must have a debit or a credit above zero`)
  const sides = {
    debit: noDebit ? 0n : parseAmount(debit, `${path}.debit`),
    credit: noCredit ? 0n : parseAmount(credit, `${path}.credit`),
  }
  if (!noDebit && !noCredit) throw problem('VALIDATION_ERROR', `${path} must have either a debit or a credit, not both`)
  return { accountId: account_id.toLowerCase(), ...sides, memo: memo ?? '' }
}
