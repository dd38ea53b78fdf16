import { openBooks } from '#test/features/accounting/books.ts'
import type { Bookkeepers } from '#test/features/accounting/model/run.ts'
import type { Org } from '#test/support/factories.ts'

/** Accounts of every kind, few enough that many postings meet at each. */
const accounts: readonly (readonly [code: string, kind: string])[] = [
  ...['1000', '1100', '1200'].map((code) => [code, 'asset'] as const),
  ['2000', 'liability'],
  ['3000', 'equity'],
  ...['4000', '4100'].map((code) => [code, 'revenue'] as const),
  ...['5000', '5100'].map((code) => [code, 'expense'] as const),
]

/** Makes the accounts that the model knows, in a workspace that keeps its books in many currencies. */
export async function openModelBooks(org: Org): Promise<Pick<Bookkeepers, 'path' | 'kinds'>> {
  await org.owner.patch(org.path, { multi_currency: true })
  const codes = accounts.map(([code]) => code)
  const { accounts: ids, path } = await openBooks(org, codes)
  return { path, kinds: new Map(accounts.map(([code, kind]) => [ids[code] ?? '', kind])) }
}
