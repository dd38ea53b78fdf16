import type { Scope } from '#shared/core/scope/scope.ts'
import { findRecordType, type RecordType, unknownTypeProblem } from '#shared/core/types/record-type.ts'
import type { RecordSource } from '#shared/features/calendar/schemas.ts'
import { problem } from '#shared/platform/kernel/errors.ts'

/** Throws VALIDATION_ERROR unless the source names a record type, a date or datetime field, an end of the same type and a title field. */
export async function checkRecordSource(scope: Scope, { type_key, start_field, end_field, title_field }: RecordSource): Promise<void> {
  const type = await findRecordType(scope, type_key)
  if (!type) throw await unknownTypeProblem(scope, 'settings.source.type_key', type_key)
  const start = requireField(type, 'start_field', start_field)
  if (start.type !== 'date' && start.type !== 'datetime')
    throw problem('VALIDATION_ERROR', 'settings.source.start_field must be a date or datetime field')
  if (end_field && requireField(type, 'end_field', end_field).type !== start.type)
    throw problem('VALIDATION_ERROR', 'settings.source.end_field must be of the type of start_field')
  if (title_field) requireField(type, 'title_field', title_field)
}

function requireField(type: RecordType, name: string, key: string) {
  const field = type.fieldByKey.get(key)
  if (!field) throw problem('VALIDATION_ERROR', `settings.source.${name} must be the key of a field of ${type.key}`)
  return field
}
