import { readRows, type Scope } from '#shared/core/scope/scope.ts'
import { readEntriesByPosting } from '#shared/features/accounting/entries/read-all.ts'
import { ChainHash } from '#shared/features/accounting/seals/chain-hash.ts'
import type { Seal } from '#shared/features/accounting/seals/schemas.ts'
import { findChainEnd, findSeals, insertSeal, type StoredSeal } from '#shared/features/accounting/seals/store.ts'
import { waitForPostings } from '#shared/features/accounting/wait-for-postings.ts'
import { announceHappening } from '#shared/platform/events/announce.ts'
import { newId } from '#shared/platform/kernel/ids.ts'

/** Reads all seals in the order of the chain. */
export async function listSeals(scope: Scope): Promise<Seal[]> {
  return (await readRows(scope, findSeals({ workspaceId: scope.workspace.id }))).map(viewSeal)
}

/** A computed seal that is not stored yet. */
interface PreparedSeal {
  readonly position: number
  readonly until: string
  readonly entries: number
  readonly hash: string
  readonly previous: string | null
}

/**
 * Hashes every entry posted before an instant (now by default) that no seal covers yet. Waits for postings in progress first; holds no lock
 * while hashing. Throws VALIDATION_ERROR for an instant in the future.
 */
export async function prepareSeal(scope: Scope, until?: string): Promise<PreparedSeal> {
  const instant = await waitForPostings(scope, until, 'until')
  const [end] = await scope.db.query(findChainEnd({ workspaceId: scope.workspace.id }))
  const previous = end?.hash ?? null
  const hash = new ChainHash(previous, instant)
  for await (const entries of readEntriesByPosting(scope, instant, end?.sealed_until)) for (const entry of entries) hash.add(entry)
  return { position: (end?.position ?? 0) + 1, until: instant, entries: hash.entries, hash: hash.digest(), previous }
}

/** Stores a prepared seal; undefined when another seal was stored first and this one must be prepared again. */
export async function storeSeal(scope: Scope, seal: PreparedSeal): Promise<Seal | undefined> {
  const [stored] = await scope.db.query(insertSeal({ ...seal, workspaceId: scope.workspace.id, id: newId() }))
  if (!stored) return undefined
  const { id, until, entries } = viewSeal(stored)
  await announceHappening(scope, { type: 'ledger.sealed', subject: { id }, data: { until, entries } })
  return viewSeal(stored)
}

const viewSeal = ({ id, until, entries, hash, previous, created_at }: StoredSeal): Seal => ({
  id,
  until,
  entries,
  hash,
  previous,
  created_at,
})
