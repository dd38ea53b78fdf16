import { recordAccessFor } from '#shared/core/records/access.ts'
import { isComputed } from '#shared/core/records/input.ts'
import type { Scope } from '#shared/core/scope/scope.ts'
import type { Field } from '#shared/core/types/fields/field.ts'
import type { RecordType } from '#shared/core/types/record-type.ts'
import { problem } from '#shared/platform/kernel/errors.ts'

/**
 * The field by which an upsert finds its record. Throws VALIDATION_ERROR, which names the parameter and shows what was sent, for a field that
 * is not unique, is computed (its value may differ from the one sent) or could be hidden from the caller, who could find it by trying values.
 */
export function requireUpsertField(scope: Scope, type: RecordType, key: string, parameter: string, shown = key): Field {
  const field = type.fieldByKey.get(key)
  if (field?.unique && !isComputed(field) && !recordAccessFor(scope, type, 'records:read').hideable.has(key)) return field
  throw problem(
    'VALIDATION_ERROR',
    `${parameter} must be the key of a unique field of ${type.key} that you may read and send, got ${shown}`,
  )
}
