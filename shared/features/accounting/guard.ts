import type { RecordGuard } from '#shared/core/scope/record-guard.ts'
import type { Scope } from '#shared/core/scope/scope.ts'
import { countLines } from '#shared/features/accounting/entries/posting-store.ts'
import { lockAgainstPosting } from '#shared/features/accounting/ledger-lock-store.ts'
import { problem } from '#shared/platform/kernel/errors.ts'

/**
 * An account with ledger lines cannot be deleted, and its kind cannot change once set (docs/contract/accounting.md#accounts-in-use). The
 * ledger's lock is taken before the lines are counted, so no concurrent posting is missed: it is either counted, or checks the account
 * after this change.
 */
export const accountGuard: RecordGuard<Scope> = {
  type: 'accounts',
  fields: ['kind'],
  check: async ({ db, workspace }, { id, before, after }) => {
    if (after !== null && before.kind === null) return
    await db.query(lockAgainstPosting({ workspaceId: workspace.id }))
    const [found] = await db.query(countLines({ workspaceId: workspace.id, accountId: id }))
    const lines = found?.lines ?? 0
    if (lines === 0) return
    const count = lines === 1 ? '1 line' : `${lines} lines`
    if (after === null) throw problem('VALIDATION_ERROR', `the account has ${count} in the ledger and cannot be deleted`)
    throw problem('VALIDATION_ERROR', `values.kind cannot change: the account has ${count} in the ledger`)
  },
}
