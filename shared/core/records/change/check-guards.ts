import type { GuardedChange } from '#shared/core/scope/record-guard.ts'
import type { Scope } from '#shared/core/scope/scope.ts'
import type { Field } from '#shared/core/types/fields/field.ts'
import type { RecordType } from '#shared/core/types/record-type.ts'

/**
 * Runs the guards of a type (shared/features.ts) for a change of these fields of a locked record, or for its deletion when `fields` is
 * omitted. Throws the problem of the first guard that refuses. A type without guards costs one map lookup. Deleting a whole type needs no
 * check: types with guards are built in and cannot be deleted.
 */
export async function checkRecordGuards(
  scope: Scope,
  { key }: RecordType,
  change: GuardedChange,
  fields?: readonly Field[],
): Promise<void> {
  for (const guard of scope.recordGuards.get(key) ?? []) {
    if (fields === undefined || fields.some((field) => guard.fields.includes(field.key))) await guard.check(scope, change)
  }
}
