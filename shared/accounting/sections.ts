import { type Account, accountOf, compareAccounts, findAccounts, type Kind } from '#shared/accounting/accounts.ts'
import { type Amount, sumOf, writeAmount } from '#shared/accounting/amount.ts'
import type { Balance } from '#shared/accounting/report.ts'
import type { Section } from '#shared/accounting/report-schemas.ts'
import type { Scope } from '#shared/scope/scope.ts'

/** What a section holds: the accounts of a kind, or those without one. */
export type SectionKind = Kind | 'unclassified'

/** The kinds whose amounts count credit less debit; all others count debit less credit (decisions, Accounting). */
const creditKinds: ReadonlySet<SectionKind> = new Set<SectionKind>(['liability', 'equity', 'revenue'])

/** An account of a report with its amount, counted as its kind does. */
interface Placed {
  readonly account: Account
  readonly kind: SectionKind
  readonly amount: Amount
}

/** Balances by the kind of their accounts: totals in exact amounts, and sections to answer with. */
export interface Classified {
  readonly total: (kind: SectionKind) => Amount
  readonly section: (kind: SectionKind) => Section
}

/** Places every balance with the kind of its account; that of an account that is no record is unclassified, so no line is ever left out. */
export async function classify(scope: Scope, found: readonly Balance[], currency: string): Promise<Classified> {
  const accounts = await findAccounts(
    scope,
    found.map(({ accountId }) => accountId),
  )
  const placed = found.map(({ accountId, balance }): Placed => {
    const account = accountOf(accounts, accountId)
    const kind = account.kind ?? 'unclassified'
    return { account, kind, amount: countedAs(kind, balance) }
  })
  const byKind = Map.groupBy(placed, ({ kind }) => kind)
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

/** A balance, debit less credit, as a kind counts it. */
export const countedAs = (kind: SectionKind, balance: Amount): Amount => (creditKinds.has(kind) ? -balance : balance)
