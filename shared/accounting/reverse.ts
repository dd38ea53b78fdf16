import { readAmount } from '#shared/accounting/amount.ts'
import { requireDay } from '#shared/accounting/days.ts'
import { getEntry } from '#shared/accounting/entries.ts'
import type { Entry, ReversalInput } from '#shared/accounting/entry.ts'
import { post } from '#shared/accounting/post.ts'
import type { Scope } from '#shared/scope/scope.ts'

/** Characters of a memo (document 2, Limits). */
const longestMemo = 500

/**
 * Posts an entry that undoes another: debits and credits swapped, in its currency, on its date or on another. Throws NOT_FOUND, and
 * VALIDATION_ERROR when it is reversed already and when the date is closed.
 */
export async function reverseEntry(scope: Scope, id: string, { date }: ReversalInput = {}): Promise<Entry> {
  const original = await getEntry(scope, id)
  return post(scope, {
    date: date == null ? original.date : requireDay(date, 'date'),
    memo: shortened(`Reversal of ${original.memo || original.id}`),
    sourceType: original.source_type,
    sourceId: original.source_id,
    currency: original.currency,
    reverses: original.id,
    lines: original.lines.map(({ account_id: accountId, debit, credit, memo }) => ({
      accountId,
      debit: readAmount(credit),
      credit: readAmount(debit),
      memo,
    })),
  })
}

/** A memo counts Unicode code points. */
const shortened = (memo: string): string => [...memo].slice(0, longestMemo).join('')
