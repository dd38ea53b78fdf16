import { type BuiltinDeclaration, builtinDeclaration } from '#shared/core/types/builtin/builtin-types.ts'
import { findUpgradesLeft, type LeftUpgrade } from '#shared/core/types/builtin/store.ts'
import type { Executor } from '#shared/platform/db/database.ts'

/** A declared type or field that a workspace lacks, or has replaced with its own. */
interface PendingUpgrade {
  readonly workspace_id: string
  readonly type: string
  /** Null when the whole type is missing or is the workspace's own. */
  readonly field: string | null
  /** `kept`: the workspace keeps its own type or field; `waiting`: a worker has not upgraded the workspace yet. */
  readonly state: 'kept' | 'waiting'
  readonly why: string
}

/** Lists the declared types and fields that workspaces lack, ordered by workspace id; for the operator. */
export async function listPendingUpgrades(db: Executor, declared: BuiltinDeclaration = builtinDeclaration): Promise<PendingUpgrade[]> {
  const pairs = declared.types.flatMap((type) =>
    type.fields.map((field) => ({ type: type.key, field: field.key, declaredType: field.type })),
  )
  const declaredTypes = new Map(pairs.map(({ type, field, declaredType }) => [`${type}.${field}`, declaredType]))
  const rows = await db.query(
    findUpgradesLeft({
      typeKeys: pairs.map(({ type }) => type),
      fieldKeys: pairs.map(({ field }) => field),
      version: declared.version,
    }),
  )
  const upgrades = rows.map((row) => toPendingUpgrade(row, declaredTypes.get(`${row.type}.${row.field}`) ?? ''))
  // A missing or custom type is listed once, not once per field.
  return upgrades.filter(({ workspace_id, type, field }, index) => {
    const previous = upgrades[index - 1]
    return field !== null || previous?.field !== null || previous.workspace_id !== workspace_id || previous.type !== type
  })
}

function toPendingUpgrade(
  { workspace_id, type, field, is_behind, is_builtin_type, field_type }: LeftUpgrade,
  declaredType: string,
): PendingUpgrade {
  const state = is_behind ? 'waiting' : 'kept'
  if (is_builtin_type === null) return { workspace_id, type, field: null, state, why: 'the type is missing' }
  if (!is_builtin_type) return { workspace_id, type, field: null, state, why: 'the workspace has a type of its own under this key' }
  return { workspace_id, type, field, state, why: explainField(field_type, declaredType) }
}

function explainField(fieldType: string | null, declaredType: string): string {
  if (fieldType === null) return 'the field is missing; a formula may hold its key as a word'
  if (fieldType !== declaredType) return `the workspace has a field of type ${fieldType}, not ${declaredType}`
  return 'the workspace has a field of its own: computed, of another ref_type, or with equal values where they must be unique'
}
