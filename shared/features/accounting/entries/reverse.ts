import type { Scope } from '#shared/core/scope/scope.ts'
import { readAmount } from '#shared/features/accounting/amount.ts'
import { requireDay } from '#shared/features/accounting/days.ts'
import { requireEntry } from '#shared/features/accounting/entries/find.ts'
import { postDraft } from '#shared/features/accounting/entries/post.ts'
import type { Entry, ReversalInput } from '#shared/features/accounting/entries/schemas.ts'
import { cutText } from '#shared/platform/kernel/values/text.ts'

/** Maximum memo length in Unicode code points (docs/contract/accounting.md#reversals). */
const maxMemoLength = 500

/**
 * Posts the reversal of an entry: debits and credits swapped, in the same currency, on the original's date unless another is given. Throws
 * NOT_FOUND, and VALIDATION_ERROR when the entry is already reversed or the date is closed.
 */
export async function reverseEntry(scope: Scope, id: string, { date }: ReversalInput = {}): Promise<Entry> {
  const original = await requireEntry(scope, id)
  return postDraft(scope, {
    date: date == null ? original.date : requireDay(date, 'date'),
    memo: cutText(`Reversal of ${original.memo || original.id}`, maxMemoLength),
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
