import type { RecordAccess } from '#shared/core/policy/fields/record-access.ts'
import type { RecordType } from '#shared/core/types/record-type.ts'
import { problem } from '#shared/platform/kernel/errors.ts'

/**
 * The fields that a caller chose; undefined for all. Throws VALIDATION_ERROR for a field that is not there or that
 * no record shows to the caller, told alike.
 */
export function readFieldSelection(
  type: RecordType,
  access: RecordAccess,
  keys: readonly string[] | undefined,
): ReadonlySet<string> | undefined {
  if (keys === undefined) return undefined
  for (const key of keys) {
    if (!type.fieldByKey.has(key) || access.neverVisible.has(key)) {
      throw problem('VALIDATION_ERROR', `fields must name fields of ${type.key} that you may read, got ${key}`)
    }
  }
  return new Set(keys)
}
