import { recordAccessFor, withRecordType } from '#shared/core/records/access.ts'
import { toRecord } from '#shared/core/records/record.ts'
import { readRows, type Scope } from '#shared/core/scope/scope.ts'
import { selectAccounts, selectAllAccounts } from '#shared/features/accounting/accounts/store.ts'
import { asArrays } from '#shared/platform/db/statements/statement.ts'
import { compareText } from '#shared/platform/kernel/values/text.ts'

/** The kinds of accounts. An account without a kind is unclassified. */
const accountKinds = ['asset', 'liability', 'equity', 'revenue', 'expense'] as const
export type AccountKind = (typeof accountKinds)[number]

/** An account as reports show it; code and name are empty where the caller may not read them. */
export interface Account {
  readonly id: string
  readonly code: string
  readonly name: string
  /** Null for an account without a kind and for an id without a record; reports still include both. */
  readonly kind: AccountKind | null
  /** Whether the caller may read the record at all. */
  readonly isReadable: boolean
}

/** Accounts by id; ids without a record are absent. Without `ids`, all accounts of the workspace. */
export function findAccounts(scope: Scope, ids?: readonly string[]): Promise<Map<string, Account>> {
  return withRecordType(scope, 'accounts', async (type) => {
    const access = recordAccessFor(scope, type, 'records:read')
    const statement = ids === undefined ? selectAllAccounts(type)() : selectAccounts(type)({ ids })
    const records = (await readRows(scope, asArrays(statement))).map((row) => toRecord(type, row))
    return new Map(
      records.map((record) => {
        const isReadable = access.test(record)
        const visible = isReadable ? access.visibleFields(record) : new Set<string>()
        const text = (key: string): string => (visible.has(key) ? String(record.values[key] ?? '') : '')
        const kind = accountKinds.find((kind) => kind === record.values.kind) ?? null
        return [record.id, { id: record.id, code: text('code'), name: text('name'), kind, isReadable }]
      }),
    )
  })
}

/** The account with an id. For an id without a record: an account without code, name and kind that counts as unreadable. */
export const accountOrUnknown = (accounts: ReadonlyMap<string, Account>, id: string): Account =>
  accounts.get(id) ?? { id, code: '', name: '', kind: null, isReadable: false }

/** Orders accounts in reports by code, then by id; accounts without a readable code come last. */
export function compareAccounts(one: Account, other: Account): number {
  if ((one.code === '') !== (other.code === '')) return one.code === '' ? 1 : -1
  return compareText(one.code, other.code) || compareText(one.id, other.id)
}
