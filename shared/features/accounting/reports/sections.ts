import type { Scope } from '#shared/core/scope/scope.ts'
import {
  type Account,
  type AccountKind,
  accountOrUnknown,
  compareAccounts,
  findAccounts,
} from '#shared/features/accounting/accounts/accounts.ts'
import { type Amount, sumOf, writeAmount } from '#shared/features/accounting/amount.ts'
import type { Balance } from '#shared/features/accounting/reports/report.ts'
import type { Section } from '#shared/features/accounting/reports/schemas.ts'

/** A report section: accounts of one kind, or accounts without a kind. */
type SectionKind = AccountKind | 'unclassified'

/** Kinds whose amounts are credit less debit; all others are debit less credit (docs/contract/accounting.md#reports). */
const creditKinds: ReadonlySet<SectionKind> = new Set<SectionKind>(['liability', 'equity', 'revenue'])

/** An account with its amount: credit less debit for `creditKinds`, debit less credit for the others. */
interface ClassifiedAccount {
  readonly account: Account
  readonly kind: SectionKind
  readonly amount: Amount
}

/** Balances grouped by account kind: exact totals, and sections for the answer. */
interface ClassifiedBalances {
  readonly total: (kind: SectionKind) => Amount
  readonly section: (kind: SectionKind) => Section
}

/** Groups balances by the kind of their account. Ids without a record count as unclassified, so no line is omitted. */
export async function classifyBalances(scope: Scope, balances: readonly Balance[], currency: string): Promise<ClassifiedBalances> {
  const accounts = await findAccounts(
    scope,
    balances.map(({ accountId }) => accountId),
  )
  const classified = balances.map(({ accountId, balance }): ClassifiedAccount => {
    const account = accountOrUnknown(accounts, accountId)
    const kind = account.kind ?? 'unclassified'
    return { account, kind, amount: signedAmount(kind, balance) }
  })
  const byKind = Map.groupBy(classified, ({ kind }) => kind)
  const total = (kind: SectionKind): Amount => sumOf((byKind.get(kind) ?? []).map(({ amount }) => amount))
  const section = (kind: SectionKind): Section => ({
    kind,
    rows: (byKind.get(kind) ?? [])
      .toSorted((one, other) => compareAccounts(one.account, other.account))
      .map(({ account: { id, code, name }, amount }) => ({ account_id: id, code, name, amount: writeAmount(amount, currency) })),
    total: writeAmount(total(kind), currency),
  })
  return { total, section }
}

/** The amount of a balance (debit less credit) as its section shows it: negated for `creditKinds`. */
export const signedAmount = (kind: SectionKind, balance: Amount): Amount => (creditKinds.has(kind) ? -balance : balance)
