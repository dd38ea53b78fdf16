import { accountOf, compareAccounts, findAccounts } from '#shared/accounting/accounts.ts'
import { beancount } from '#shared/accounting/export/beancount.ts'
import { csv } from '#shared/accounting/export/csv.ts'
import type { ExportFormat } from '#shared/accounting/export/format.ts'
import { hledger } from '#shared/accounting/export/hledger.ts'
import { fixed } from '#shared/accounting/fixed.ts'
import { findCurrencies, findUsedAccounts } from '#shared/accounting/store/books.ts'
import { entriesByDate } from '#shared/accounting/walk.ts'
import type { Scope } from '#shared/scope/scope.ts'

/** Export formats by name. */
export const formats = { hledger, beancount, csv } as const satisfies Readonly<Record<string, ExportFormat>>
export type FormatName = keyof typeof formats

/**
 * Exports all entries posted before an instant, now by default, in every currency, by date, a page of entries per buffer. Accounts that the
 * caller may not read have neither code nor name. Calls `onProgress` with the number of entries written after each page. Throws
 * VALIDATION_ERROR for an instant in the future.
 */
export async function* exportBooks(
  scope: Scope,
  { entry: write, head }: ExportFormat,
  recordedBefore: string | undefined,
  onProgress: (entries: number) => Promise<void>,
): AsyncGenerator<Buffer> {
  const before = await fixed(scope, recordedBefore, 'recorded_before')
  const currencyRows = await scope.db.query<{ currency: string }>(findCurrencies(scope.workspace.id, before))
  const accountRows = await scope.db.query<{ account_id: string }>(findUsedAccounts(scope.workspace.id, before))
  const ids = accountRows.map(({ account_id }) => account_id)
  const accountsById = await findAccounts(scope, ids)
  const accounts = new Map(ids.map((id) => [id, accountOf(accountsById, id)]))
  let written = 0
  for await (const entries of entriesByDate(scope, before)) {
    if (written === 0) yield Buffer.from(head(describeBooks(entries[0]?.date ?? null)))
    yield Buffer.from(entries.map((entry) => write(entry, (id) => accountOf(accounts, id))).join(''))
    written += entries.length
    await onProgress(written)
  }
  if (written === 0) yield Buffer.from(head(describeBooks(null)))

  function describeBooks(firstDate: string | null) {
    const currencies = currencyRows.map(({ currency }) => currency)
    return { workspaceId: scope.workspace.id, before, currencies, accounts: [...accounts.values()].sort(compareAccounts), firstDate }
  }
}
