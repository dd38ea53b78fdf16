import type { Scope } from '#shared/core/scope/scope.ts'
import { accountOrUnknown, compareAccounts, findAccounts } from '#shared/features/accounting/accounts/accounts.ts'
import { readEntriesByDate } from '#shared/features/accounting/entries/read-all.ts'
import type { ExportFormat } from '#shared/features/accounting/export/formats.ts'
import { findCurrencies, findUsedAccounts } from '#shared/features/accounting/store.ts'
import { waitForPostings } from '#shared/features/accounting/wait-for-postings.ts'

/**
 * Exports all entries posted before an instant (now by default) in every currency, ordered by date, in one buffer per page of entries.
 * Accounts that the caller may not read have neither code nor name. After each page, calls `onProgress` with the number of entries written
 * so far. Throws VALIDATION_ERROR for an instant in the future.
 */
export async function* exportBooks(
  scope: Scope,
  { writeEntry: write, writeHeader }: ExportFormat,
  recordedBefore: string | undefined,
  onProgress: (entries: number) => Promise<void>,
): AsyncGenerator<Buffer> {
  const before = await waitForPostings(scope, recordedBefore, 'recorded_before')
  const currencyRows = await scope.db.query(findCurrencies({ workspaceId: scope.workspace.id, postedBefore: before }))
  const accountRows = await scope.db.query(findUsedAccounts({ workspaceId: scope.workspace.id, postedBefore: before }))
  const ids = accountRows.map(({ account_id }) => account_id)
  const accountsById = await findAccounts(scope, ids)
  const accounts = new Map(ids.map((id) => [id, accountOrUnknown(accountsById, id)]))
  let written = 0
  for await (const entries of readEntriesByDate(scope, before)) {
    if (written === 0) yield Buffer.from(writeHeader(describeBooks(entries[0]?.date ?? null)))
    yield Buffer.from(entries.map((entry) => write(entry, (id) => accountOrUnknown(accounts, id))).join(''))
    written += entries.length
    await onProgress(written)
  }
  if (written === 0) yield Buffer.from(writeHeader(describeBooks(null)))

  function describeBooks(firstDate: string | null) {
    const currencies = currencyRows.map(({ currency }) => currency)
    return { workspaceId: scope.workspace.id, before, currencies, accounts: [...accounts.values()].sort(compareAccounts), firstDate }
  }
}
