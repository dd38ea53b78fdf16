import type { RecordAccess } from '#shared/core/policy/fields/record-access.ts'
import type { RecordType } from '#shared/core/types/record-type.ts'
import { problem } from '#shared/platform/kernel/errors.ts'

/**
 * The fields that a caller selected; undefined for all. Throws the same VALIDATION_ERROR for an unknown field and for one that the caller
 * may never see.
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
