import { uniqueViolation } from '#shared/db/conflicts.ts'
import { problem } from '#shared/kernel/errors.ts'
import type { RecordType } from '#shared/types/record-type.ts'
import { fieldOfUniqueIndex } from '#shared/types/tables.ts'

/** The DUPLICATE_VALUE that a violated unique index stands for, naming its field; any other error is returned as it is. */
export function conflictOf(type: RecordType, error: unknown): unknown {
  const id = fieldOfUniqueIndex(uniqueViolation(error))
  if (id === undefined) return error
  const field = type.fields.find((candidate) => candidate.id.replaceAll('-', '') === id)
  return problem('DUPLICATE_VALUE', `values.${field?.key ?? 'a unique field'} already has this value in another record`, { cause: error })
}
