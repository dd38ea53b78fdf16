import type { FieldUse } from '#shared/core/types/indexes/count-use.ts'
import type { IndexKindName } from '#shared/core/types/indexes/index-kinds.ts'
import type { FieldType } from '#shared/platform/kernel/field-type.ts'

/** A record type whose fields are used enough to be looked at, or have an index by use: what decisions go by. */
export interface UsedType {
  readonly workspaceId: string
  readonly key: string
  readonly records: number
  readonly fields: readonly UsedField[]
}

export interface UsedField {
  readonly id: string
  readonly key: string
  readonly type: FieldType
  readonly unique: boolean
  readonly column: string
  readonly uses: readonly ScoredUse[]
  readonly indexes: readonly StoredIndex[]
}

/** How often a field was used, where what is days old counts for less, and when last. */
export interface ScoredUse {
  readonly use: FieldUse
  readonly score: number
  readonly usedAt: Date
}

/** An index by use as far as it has come. */
export interface StoredIndex {
  readonly kind: IndexKindName
  /** `broken` was left behind unfinished, or is still being built. */
  readonly state: 'ready' | 'broken' | 'missing'
  readonly requestedAt: Date
  readonly builtAt: Date | null
  /** When its field's values were looked at last (sample.ts). */
  readonly sampledAt: Date | null
  readonly retryAt: Date | null
  readonly failure: string | null
  readonly isBeingBuilt: boolean
  readonly sizeBytes: number
  /** How often and when last the planner took it. */
  readonly scans: number
  readonly scannedAt: Date | null
}
