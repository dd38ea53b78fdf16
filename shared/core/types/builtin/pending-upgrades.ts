import { type BuiltinDeclaration, builtinDeclaration } from '#shared/core/types/builtin/builtin-types.ts'
import { findUpgradesLeft } from '#shared/core/types/builtin/store.ts'
import type { Executor } from '#shared/platform/db/database.ts'

/** What a workspace has instead of something that this release declares, or has not got yet. */
export interface PendingUpgrade {
  readonly workspace_id: string
  readonly type: string
  /** Null where the whole type is the workspace's own, or missing. */
  readonly field: string | null
  /** `kept`: the workspace goes on with what is its own; `waiting`: a worker has yet to come by. */
  readonly state: 'kept' | 'waiting'
  readonly why: string
}

interface Row {
  readonly workspace_id: string
  readonly type: string
  readonly field: string
  readonly is_behind: boolean
  readonly is_builtin_type: boolean | null
  readonly field_type: string | null
}

/** Everything that workspaces lack of what is declared, in the order of their ids; for the operator. */
export async function listPendingUpgrades(db: Executor, declared: BuiltinDeclaration = builtinDeclaration): Promise<PendingUpgrade[]> {
  const pairs = declared.types.flatMap((type) => type.fields.map((field) => ({ type: type.key, field: field.key, kind: field.type })))
  const kinds = new Map(pairs.map(({ type, field, kind }) => [`${type}.${field}`, kind]))
  const types = pairs.map(({ type }) => type)
  const rows = await db.query<Row>(
    findUpgradesLeft(
      types,
      pairs.map(({ field }) => field),
      declared.version,
    ),
  )
  const left = rows.map((row) => leftOf(row, kinds.get(`${row.type}.${row.field}`) ?? ''))
  // A type that is not the built-in one is named once, not with every field.
  return left.filter(({ workspace_id, type, field }, index) => {
    const before = left[index - 1]
    return field !== null || before?.field !== null || before.workspace_id !== workspace_id || before.type !== type
  })
}

function leftOf({ workspace_id, type, field, is_behind, is_builtin_type, field_type }: Row, kind: string): PendingUpgrade {
  const state = is_behind ? 'waiting' : 'kept'
  if (is_builtin_type === null) return { workspace_id, type, field: null, state, why: 'the type is missing' }
  if (!is_builtin_type) return { workspace_id, type, field: null, state, why: 'the workspace has a type of its own under this key' }
  return { workspace_id, type, field, state, why: whyOfField(field_type, kind) }
}

function whyOfField(fieldType: string | null, kind: string): string {
  if (fieldType === null) return 'the field is missing; a formula may hold its key as a word'
  if (fieldType !== kind) return `the workspace has a field of type ${fieldType}, not ${kind}`
  return 'the workspace has a field of its own: computed, of another ref_type, or with equal values where they must be unique'
}
