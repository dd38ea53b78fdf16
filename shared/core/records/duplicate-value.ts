import type { Field } from '#shared/core/types/fields/field.ts'
import type { RecordType } from '#shared/core/types/record-type.ts'
import { hexOf, parseUniqueIndexName } from '#shared/core/types/tables/table-names.ts'
import { uniqueViolation } from '#shared/platform/db/database-errors.ts'
import { Problem, problem } from '#shared/platform/kernel/errors.ts'

/** Converts the violation of a field's unique index to DUPLICATE_VALUE that names the field; returns any other error unchanged. */
export function toDuplicateProblem(type: RecordType, error: unknown): unknown {
  const id = parseUniqueIndexName(uniqueViolation(error))
  if (id === undefined) return error
  const name = fieldOfIndex(type, id)?.key ?? 'a unique field'
  return problem('DUPLICATE_VALUE', `values.${name} already has this value in another record`, { cause: error })
}

/** The field of a DUPLICATE_VALUE that `toDuplicateProblem` made; undefined for any other error. */
export function findDuplicateField(type: RecordType, error: unknown): Field | undefined {
  if (!(error instanceof Problem) || error.code !== 'DUPLICATE_VALUE') return undefined
  return fieldOfIndex(type, parseUniqueIndexName(uniqueViolation(error.cause)))
}

const fieldOfIndex = (type: RecordType, hexId: string | undefined): Field | undefined => type.fields.find(({ id }) => hexOf(id) === hexId)
