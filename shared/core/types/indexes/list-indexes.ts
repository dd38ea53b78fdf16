import type { IndexKindName } from '#shared/core/types/indexes/index-kinds.ts'
import { findIndexCandidates, type IndexCandidate, requiredScore, type ScoredUse } from '#shared/core/types/indexes/plan-indexes.ts'
import { findPermanentIndexes, findUsedTypes } from '#shared/core/types/indexes/store.ts'
import { schemaOf } from '#shared/core/types/tables/table-names.ts'
import type { Session } from '#shared/platform/db/pool/session.ts'

/** An index as listed for the operator; times are RFC 3339. */
export interface ListedIndex {
  readonly workspace_id: string
  readonly type: string
  /** The key of the field; of a pair `<key of the leading field>, <key>`. */
  readonly field: string
  readonly kind: IndexKindName | 'unique' | 'ref'
  /**
   * `ready`; `building`; `wanted`: to be built; `failed`: to be retried; `unwanted`: to be dropped; `watched`: used too rarely for an index
   * so far.
   */
  readonly state: 'ready' | 'building' | 'wanted' | 'failed' | 'unwanted' | 'watched'
  readonly why: string
  readonly records: number
  readonly size_bytes: number
  /** Null when unknown: the builder died after the build and before it recorded the time. */
  readonly built_at: string | null
  /** Uses of the field, weighted by age: older uses count less. */
  readonly uses: number
  readonly last_used_at: string | null
  /** Scans of the index by PostgreSQL, and the time of the last. */
  readonly scans: number
  readonly last_scan_at: string | null
}

/**
 * Lists indexes by use and their candidates, of one workspace or of all (null). For one workspace also lists the permanent indexes of its
 * fields. Ordered by workspace and type, highest score first.
 */
export async function listIndexes(db: Session, now: Date, workspaceId: string | null): Promise<ListedIndex[]> {
  const types = await findUsedTypes(db, now, workspaceId)
  const indexesByUse = types.flatMap((type) => findIndexCandidates(type, now)).map(toListedIndex)
  return workspaceId === null
    ? indexesByUse
    : [...indexesByUse, ...(await db.query(findPermanentIndexes({ workspaceId, schema: schemaOf(workspaceId) })))]
}

function toListedIndex(candidate: IndexCandidate): ListedIndex {
  const { type, field, lead, kind, index, score, usedAt } = candidate
  return {
    workspace_id: type.workspaceId,
    type: type.key,
    field: lead ? `${lead.key}, ${field.key}` : field.key,
    kind,
    state: stateOf(candidate),
    why: whyOf(candidate),
    records: type.records,
    size_bytes: index?.sizeBytes ?? 0,
    built_at: index?.builtAt?.toISOString() ?? null,
    uses: score,
    last_used_at: usedAt?.toISOString() ?? null,
    scans: index?.scans ?? 0,
    last_scan_at: index?.scannedAt?.toISOString() ?? null,
  }
}

function stateOf({ isChosen, index }: IndexCandidate): ListedIndex['state'] {
  if (index?.isBeingBuilt) return 'building'
  if (isChosen && index?.state === 'ready') return 'ready'
  if (index?.retryAt) return 'failed'
  if (isChosen) return 'wanted'
  return index ? 'unwanted' : 'watched'
}

function whyOf(candidate: IndexCandidate): string {
  const { uses, type, isChosen, index } = candidate
  const used = uses.map(({ use, score }: ScoredUse) => `${use} ${score}`).join(', ') || 'not used'
  if (index?.failure && index.retryAt && stateOf(candidate) === 'failed')
    return `${used}; ${index.failure}; again at ${index.retryAt.toISOString()}`
  if (isChosen) return used
  const required = requiredScore(type.records)
  if (!Number.isFinite(required)) return `${used}; the type holds few records`
  return candidate.score >= required ? `${used}; other indexes of the type have higher scores` : `${used} of ${required}`
}
