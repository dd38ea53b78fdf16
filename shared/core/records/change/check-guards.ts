import type { GuardedChange } from '#shared/core/scope/record-guard.ts'
import type { Scope } from '#shared/core/scope/scope.ts'
import type { Field } from '#shared/core/types/fields/field.ts'
import type { RecordType } from '#shared/core/types/record-type.ts'

/**
 * Asks the rooms whether a locked record may change in these fields, or be deleted when none are given; throws what one of them refuses.
 * Types without a guard cost one look into a map. Whole types go unasked: those with a guard are built in, and cannot be deleted.
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
