import { type Amount, readAmount } from '#shared/accounting/amount.ts'
import { ChainHash } from '#shared/accounting/chain.ts'
import { fixed } from '#shared/accounting/fixed.ts'
import { balances, openBooks } from '#shared/accounting/report.ts'
import type { Difference, Verification } from '#shared/accounting/seal.ts'
import type { StoredEntry } from '#shared/accounting/store/entries.ts'
import { findSeals, type StoredSeal } from '#shared/accounting/store/seals.ts'
import { entriesByPosting } from '#shared/accounting/walk.ts'
import { computeBudget } from '#shared/kernel/compute-budget.ts'
import type { Scope } from '#shared/scope/scope.ts'

/** Differences that are told; where there are more, the books are lost anyway. */
const maxDifferences = 1_000

/**
 * Computes everything again, as the books stand now: the chain of seals, the balance of every entry, and from their lines the trial balance
 * of every currency, which must be what the reports say. `done` hears how many entries were looked at.
 */
export async function verifyBooks(scope: Scope, done: (entries: number) => Promise<void>): Promise<Verification> {
  const now = await fixed(scope, undefined, 'now')
  const seals = await scope.db.query<StoredSeal>(findSeals(scope.workspace.id))
  const differences: Difference[] = []
  const chain = new ChainCheck(seals, differences)
  const sums = new Map<string, Amount>()
  // It reads each entry once, so the books themselves bound it.
  const compute = computeBudget(scope.workspace.id, { steps: Number.POSITIVE_INFINITY, bound: '' })
  let entries = 0
  for await (const step of entriesByPosting(scope, now)) {
    for (const entry of step) {
      if (compute.isPauseDue()) await compute.pause()
      chain.pass(entry)
      checkEntry(entry, differences)
      for (const { account_id, debit, credit } of entry.lines) {
        const key = `${entry.currency} ${account_id}`
        sums.set(key, (sums.get(key) ?? 0n) + readAmount(debit) - readAmount(credit))
      }
    }
    entries += step.length
    await done(entries)
  }
  chain.end()
  differences.push(...(await compareBalances(scope, now, sums)))
  return { ok: differences.length === 0, entries, seals: seals.length, differences: differences.slice(0, maxDifferences) }
}

/** Follows the chain while entries come by in the order of recording: each goes into the first seal that reaches past it. */
class ChainCheck {
  readonly #seals: readonly StoredSeal[]
  readonly #differences: Difference[]
  #next = 0
  #hash: ChainHash | undefined

  constructor(seals: readonly StoredSeal[], differences: Difference[]) {
    this.#seals = seals
    this.#differences = differences
    this.#open()
  }

  pass(entry: StoredEntry): void {
    // Instants of six digits in UTC sort as text.
    for (let seal = this.#seals[this.#next]; seal && entry.created_at >= seal.until; seal = this.#seals[this.#next]) this.#close(seal)
    this.#hash?.cover(entry)
  }

  end(): void {
    for (let seal = this.#seals[this.#next]; seal; seal = this.#seals[this.#next]) this.#close(seal)
  }

  #open(): void {
    const seal = this.#seals[this.#next]
    this.#hash = seal && new ChainHash(this.#seals[this.#next - 1]?.hash ?? null, seal.until)
  }

  #close(seal: StoredSeal): void {
    const complain = (detail: string) => this.#differences.push({ kind: 'seal', id: seal.id, detail })
    const entries = this.#hash?.entries ?? 0
    const hash = this.#hash?.end()
    if (seal.previous !== (this.#seals[this.#next - 1]?.hash ?? null)) complain('does not follow the seal before it')
    if (entries !== seal.entries) complain(`covers ${entries} entries, and says ${seal.entries}`)
    if (hash !== seal.hash) complain(`its entries have the hash ${hash}, and it says ${seal.hash}`)
    this.#next += 1
    this.#open()
  }
}

function checkEntry({ id, total, lines }: StoredEntry, differences: Difference[]): void {
  let [debits, credits] = [0n, 0n]
  for (const { debit, credit } of lines) {
    debits += readAmount(debit)
    credits += readAmount(credit)
  }
  if (debits === credits && debits === readAmount(total) && lines.length >= 2) return
  differences.push({
    kind: 'entry',
    id,
    detail: `${lines.length} lines with debits of ${debits} and credits of ${credits} millionths, total ${total}`,
  })
}

/** What the reports' own core says of each account, against the sums of the lines. */
async function compareBalances(scope: Scope, now: string, sums: ReadonlyMap<string, Amount>): Promise<Difference[]> {
  const { currencies } = await openBooks(scope, { recorded_before: now })
  const reported = new Map<string, Amount>()
  for (const currency of currencies) {
    for (const { accountId, balance } of await balances(scope, { currency, currencies, recordedBefore: now })) {
      reported.set(`${currency} ${accountId}`, balance)
    }
  }
  return [...new Set([...sums.keys(), ...reported.keys()])].flatMap((key): Difference[] => {
    const [sum, report] = [sums.get(key) ?? 0n, reported.get(key) ?? 0n]
    const [currency, id = ''] = key.split(' ')
    return sum === report ? [] : [{ kind: 'balance', id, detail: `${currency}: lines sum up to ${sum} millionths, reports say ${report}` }]
  })
}
