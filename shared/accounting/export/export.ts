import { accountOf, compareAccounts, findAccounts } from '#shared/accounting/accounts.ts'
import { beancount } from '#shared/accounting/export/beancount.ts'
import { csv } from '#shared/accounting/export/csv.ts'
import type { ExportFormat } from '#shared/accounting/export/format.ts'
import { hledger } from '#shared/accounting/export/hledger.ts'
import { fixed } from '#shared/accounting/fixed.ts'
import { findCurrencies, findUsedAccounts } from '#shared/accounting/store/books.ts'
import { entriesByDate } from '#shared/accounting/walk.ts'
import type { Scope } from '#shared/scope/scope.ts'

/** The formats of an export by their name. */
export const formats = { hledger, beancount, csv } as const satisfies Readonly<Record<string, ExportFormat>>
export type FormatName = keyof typeof formats

/**
 * The bytes of all books as they were before an instant, now by default, in every currency, some entries at a time and by date. Accounts
 * that the caller may not read have neither code nor name. `done` hears how many entries are written. Throws VALIDATION_ERROR for an instant
 * that is ahead.
 */
export async function* exportBooks(
  scope: Scope,
  { entry: write, head }: ExportFormat,
  recordedBefore: string | undefined,
  done: (entries: number) => Promise<void>,
): AsyncGenerator<Buffer> {
  const before = await fixed(scope, recordedBefore, 'recorded_before')
  const held = await scope.db.query<{ currency: string }>(findCurrencies(scope.workspace.id, before))
  const used = await scope.db.query<{ account_id: string }>(findUsedAccounts(scope.workspace.id, before))
  const ids = used.map(({ account_id }) => account_id)
  const known = await findAccounts(scope, ids)
  const accounts = new Map(ids.map((id) => [id, accountOf(known, id)]))
  let written = 0
  for await (const entries of entriesByDate(scope, before)) {
    if (written === 0) yield Buffer.from(head(booksFrom(entries[0]?.date ?? null)))
    yield Buffer.from(entries.map((entry) => write(entry, (id) => accountOf(accounts, id))).join(''))
    written += entries.length
    await done(written)
  }
  if (written === 0) yield Buffer.from(head(booksFrom(null)))

  function booksFrom(firstDate: string | null) {
    const currencies = held.map(({ currency }) => currency)
    return { workspaceId: scope.workspace.id, before, currencies, accounts: [...accounts.values()].sort(compareAccounts), firstDate }
  }
}
