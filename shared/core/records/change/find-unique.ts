import { recordAccessFor } from '#shared/core/records/access.ts'
import { isComputed } from '#shared/core/records/input.ts'
import { recordOfUnique } from '#shared/core/records/query/read-store.ts'
import { valueColumnsOf } from '#shared/core/records/record.ts'
import type { Scope } from '#shared/core/scope/scope.ts'
import { fieldKinds } from '#shared/core/types/field-kinds/field-kinds.ts'
import { isBlank, parseValue } from '#shared/core/types/field-kinds/value.ts'
import type { Field } from '#shared/core/types/fields/field.ts'
import { type RecordType, requireRecordType } from '#shared/core/types/record-type.ts'
import { problem } from '#shared/platform/kernel/errors.ts'

/**
 * The id of the record that holds the value sent for a unique field, regardless of the caller's rights; undefined when no record holds it.
 * Throws VALIDATION_ERROR when the field is not unique, is computed or could be hidden from the caller, or when the value is missing.
 */
export async function findRecordIdByUnique(
  scope: Scope,
  typeKey: string,
  by: string,
  values: Readonly<Record<string, unknown>>,
): Promise<string | undefined> {
  const type = await requireRecordType(scope, typeKey)
  const field = type.fieldByKey.get(by)
  // The value of a computed field may differ from the one sent.
  if (!field?.unique || isComputed(field) || recordAccessFor(scope, type, 'records:read').hideable.has(by)) {
    throw problem('VALIDATION_ERROR', `by must be the key of a unique field of ${typeKey} that you may read and send, got ${by}`)
  }
  const value = parseValue(values[by], field, { path: `values.${by}`, defaultCurrency: scope.workspace.default_currency })
  if (isBlank(value)) throw problem('VALIDATION_ERROR', `values.${by} is required`)
  return findHolderId(scope, type, field, fieldKinds[field.type].toColumns(value))
}

async function findHolderId({ db }: Scope, type: RecordType, field: Field, cells: readonly unknown[]): Promise<string | undefined> {
  const slots = Object.fromEntries(valueColumnsOf(field).map((column, index) => [column, cells[index]]))
  return (await db.query<{ id: string }>(recordOfUnique(type, field)(slots)))[0]?.id
}
