import type { FieldUse } from '#shared/core/types/indexes/count-use.ts'
import type { IndexKindName } from '#shared/core/types/indexes/index-kinds.ts'
import type { FieldType } from '#shared/platform/kernel/field-type.ts'

/** A record type with frequently used fields or with indexes by use: the input of index planning. */
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

/** The age-weighted number of uses of a field, and the time of the last. */
export interface ScoredUse {
  readonly use: FieldUse
  readonly score: number
  readonly usedAt: Date
}

/** An index by use and its state. */
export interface StoredIndex {
  readonly kind: IndexKindName
  /** `broken`: unfinished, or still being built. */
  readonly state: 'ready' | 'broken' | 'missing'
  readonly requestedAt: Date
  readonly builtAt: Date | null
  /** When the field's values were last sampled (sample-field.ts). */
  readonly sampledAt: Date | null
  readonly retryAt: Date | null
  readonly failure: string | null
  readonly isBeingBuilt: boolean
  readonly sizeBytes: number
  /** Scans of the index by PostgreSQL, and the time of the last. */
  readonly scans: number
  readonly scannedAt: Date | null
}
