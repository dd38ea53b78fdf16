import type { Scope } from '#shared/core/scope/scope.ts'
import { type Amount, readAmount, sumOf } from '#shared/features/accounting/amount.ts'
import { readEntriesByPosting } from '#shared/features/accounting/entries/read-all.ts'
import type { StoredEntry } from '#shared/features/accounting/entries/store.ts'
import { openBooks, readBalances } from '#shared/features/accounting/reports/report.ts'
import { ChainHash } from '#shared/features/accounting/seals/chain-hash.ts'
import type { LedgerDifference, LedgerVerification } from '#shared/features/accounting/seals/schemas.ts'
import { findSeals, type StoredSeal } from '#shared/features/accounting/seals/store.ts'
import { waitForPostings } from '#shared/features/accounting/wait-for-postings.ts'
import { computeBudget } from '#shared/platform/kernel/process/compute-budget.ts'

/** Maximum number of differences collected and reported; a ledger with more needs no further detail. */
const maxDifferences = 1_000

/**
 * Recomputes the ledger as of now: the chain of seals, the balance of every entry and, from the lines, the trial balance of every currency,
 * which must equal the reports. Calls `onProgress` with the number of entries checked after each page.
 */
export async function verifyBooks(scope: Scope, onProgress: (entries: number) => Promise<void>): Promise<LedgerVerification> {
  const now = await waitForPostings(scope, undefined, 'now')
  const seals = await scope.db.query(findSeals({ workspaceId: scope.workspace.id }))
  const differences: LedgerDifference[] = []
  const report = (difference: LedgerDifference) => {
    if (differences.length < maxDifferences) differences.push(difference)
  }
  const chain = new ChainCheck(seals, report)
  const sums = new Map<string, Amount>()
  // No step limit: each entry is read once, so the size of the ledger bounds the work.
  const compute = computeBudget(scope.db.owner, { steps: Number.POSITIVE_INFINITY, bound: '' })
  let entries = 0
  for await (const step of readEntriesByPosting(scope, now)) {
    for (const entry of step) {
      if (compute.isPauseDue()) await compute.pause()
      chain.add(entry)
      checkEntry(entry, report)
      for (const { account_id, debit, credit } of entry.lines) {
        const key = `${entry.currency} ${account_id}`
        sums.set(key, (sums.get(key) ?? 0n) + readAmount(debit) - readAmount(credit))
      }
    }
    entries += step.length
    await onProgress(entries)
  }
  chain.closeAll()
  await compareBalances(scope, now, sums, report)
  return { ok: differences.length === 0, entries, seals: seals.length, differences }
}

type Report = (difference: LedgerDifference) => void

/** Recomputes the seals from entries added in the order of recording; each entry belongs to the first seal whose `until` is after it. */
class ChainCheck {
  readonly #seals: readonly StoredSeal[]
  readonly #report: Report
  #next = 0
  #hash: ChainHash | undefined

  constructor(seals: readonly StoredSeal[], report: Report) {
    this.#seals = seals
    this.#report = report
    this.#open()
  }

  add(entry: StoredEntry): void {
    // Instants are UTC text with six fraction digits, so text order is time order.
    while (this.#seal && entry.created_at >= this.#seal.until) this.#close(this.#seal)
    this.#hash?.add(entry)
  }

  closeAll(): void {
    while (this.#seal) this.#close(this.#seal)
  }

  get #seal(): StoredSeal | undefined {
    return this.#seals[this.#next]
  }

  #open(): void {
    const seal = this.#seal
    this.#hash = seal && new ChainHash(this.#seals[this.#next - 1]?.hash ?? null, seal.until)
  }

  #close(seal: StoredSeal): void {
    const addDifference = (detail: string) => this.#report({ kind: 'seal', id: seal.id, detail })
    const entries = this.#hash?.entries ?? 0
    const hash = this.#hash?.digest()
    if (seal.previous !== (this.#seals[this.#next - 1]?.hash ?? null)) addDifference('does not follow the seal before it')
    if (entries !== seal.entries) addDifference(`covers ${entries} entries, but the seal names ${seal.entries}`)
    if (hash !== seal.hash) addDifference(`its entries have the hash ${hash}, but the seal holds ${seal.hash}`)
    this.#next += 1
    this.#open()
  }
}

function checkEntry({ id, total, lines }: StoredEntry, report: Report): void {
  const debits = sumOf(lines.map(({ debit }) => readAmount(debit)))
  const credits = sumOf(lines.map(({ credit }) => readAmount(credit)))
  if (debits === credits && debits === readAmount(total) && lines.length >= 2) return
  report({
    kind: 'entry',
    id,
    detail: `${lines.length} lines with debits of ${debits} and credits of ${credits} millionths, total ${total}`,
  })
}

/** Compares the balances that reports read with the sums of the lines. */
async function compareBalances(scope: Scope, now: string, sums: ReadonlyMap<string, Amount>, report: Report): Promise<void> {
  const { currencies } = await openBooks(scope, { recorded_before: now })
  const reported = new Map<string, Amount>()
  for (const currency of currencies) {
    for (const { accountId, balance } of await readBalances(scope, { currency, currencies, recordedBefore: now })) {
      reported.set(`${currency} ${accountId}`, balance)
    }
  }
  for (const key of new Set([...sums.keys(), ...reported.keys()])) {
    const [sum, balance] = [sums.get(key) ?? 0n, reported.get(key) ?? 0n]
    const [currency, id = ''] = key.split(' ')
    if (sum !== balance) report({ kind: 'balance', id, detail: `${currency}: lines sum up to ${sum} millionths, reports say ${balance}` })
  }
}
