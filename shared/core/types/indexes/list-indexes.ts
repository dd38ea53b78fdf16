import type { IndexKindName } from '#shared/core/types/indexes/index-kinds.ts'
import { findIndexCandidates, type IndexCandidate, requiredScore } from '#shared/core/types/indexes/plan-indexes.ts'
import { findIndexesAnyhow, findUsedTypes } from '#shared/core/types/indexes/store.ts'
import type { ScoredUse } from '#shared/core/types/indexes/used-types.ts'
import { schemaOf } from '#shared/core/types/tables/table-names.ts'
import type { Session } from '#shared/platform/db/pool/session.ts'

/** An index as the operator sees it; times are RFC 3339. */
export interface ListedIndex {
  readonly workspace_id: string
  readonly type: string
  readonly field: string
  readonly kind: IndexKindName | 'unique' | 'ref'
  /**
   * `ready`; `building`; `wanted`, to be built next; `failed`, to be tried again; `unwanted`, to be dropped next; `watched`, used too seldom
   * for one yet.
   */
  readonly state: 'ready' | 'building' | 'wanted' | 'failed' | 'unwanted' | 'watched'
  readonly why: string
  readonly records: number
  readonly size_bytes: number
  /** Null where nobody knows any more: of an index that its builder finished and did not live to tell of. */
  readonly built_at: string | null
  /** How often its field was used, where what is days old counts for less. */
  readonly uses: number
  readonly last_used_at: string | null
  /** How often and when last PostgreSQL took it. */
  readonly scans: number
  readonly last_scan_at: string | null
}

/**
 * The indexes that follow use and those that are about to, of one workspace or of all; of one also those that its fields have anyhow. By
 * workspace and type, those worth most first.
 */
export async function listIndexes(db: Session, now: Date, workspaceId: string | null): Promise<ListedIndex[]> {
  const types = await findUsedTypes(db, now, workspaceId)
  const following = types.flatMap((type) => findIndexCandidates(type, now)).map(listed)
  return workspaceId === null
    ? following
    : [...following, ...(await db.query<ListedIndex>(findIndexesAnyhow(workspaceId, schemaOf(workspaceId))))]
}

function listed(wish: IndexCandidate): ListedIndex {
  const { type, field, kind, index, score, usedAt } = wish
  return {
    workspace_id: type.workspaceId,
    type: type.key,
    field: field.key,
    kind,
    state: stateOf(wish),
    why: whyOf(wish),
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

function whyOf(wish: IndexCandidate): string {
  const { uses, type, isChosen, index } = wish
  const used = uses.map(({ use, score }: ScoredUse) => `${use} ${score}`).join(', ') || 'not used'
  if (index?.failure && index.retryAt && stateOf(wish) === 'failed')
    return `${used}; ${index.failure}; again at ${index.retryAt.toISOString()}`
  if (isChosen) return used
  const asked = requiredScore(type.records)
  if (!Number.isFinite(asked)) return `${used}; the type holds few records`
  return wish.score >= asked ? `${used}; others are worth more` : `${used} of ${asked}`
}
