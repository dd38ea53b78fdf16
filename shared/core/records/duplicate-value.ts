import type { Field } from '#shared/core/types/fields/field.ts'
import type { RecordType } from '#shared/core/types/record-type.ts'
import { parseUniqueIndexName } from '#shared/core/types/tables/table-names.ts'
import { uniqueViolation } from '#shared/platform/db/database-errors.ts'
import { Problem, problem } from '#shared/platform/kernel/errors.ts'

/** The DUPLICATE_VALUE that a violated unique index stands for, naming its field; any other error is returned as it is. */
export function toDuplicateProblem(type: RecordType, error: unknown): unknown {
  const id = parseUniqueIndexName(uniqueViolation(error))
  if (id === undefined) return error
  const name = fieldOfIndex(type, id)?.key ?? 'a unique field'
  return problem('DUPLICATE_VALUE', `values.${name} already has this value in another record`, { cause: error })
}

/** The field whose value another record holds already, of an error that `conflictOf` made; undefined for any other. */
export function findDuplicateField(type: RecordType, error: unknown): Field | undefined {
  if (!(error instanceof Problem) || error.code !== 'DUPLICATE_VALUE') return undefined
  return fieldOfIndex(type, parseUniqueIndexName(uniqueViolation(error.cause)))
}

const fieldOfIndex = (type: RecordType, hexId: string | undefined): Field | undefined =>
  type.fields.find(({ id }) => id.replaceAll('-', '') === hexId)
