import { recordsByIds, valuesByIds } from '#shared/core/records/query/read-store.ts'
import { readValue, type StoredRecord, toRecord } from '#shared/core/records/record.ts'
import type { Scope } from '#shared/core/scope/scope.ts'
import type { Field } from '#shared/core/types/fields/field.ts'
import type { RecordType } from '#shared/core/types/record-type.ts'
import { asArrays } from '#shared/platform/db/statements/statement.ts'
import type { FieldValue } from '#shared/platform/kernel/field-type.ts'

/**
 * The existing records of these ids, in the order of the ids. It checks no rights: test each record against the caller's `RecordAccess`
 * before returning it to the caller. Ids may repeat. `lock` locks the records until the transaction ends; pass sorted ids then.
 */
export async function findRecordsByIds(
  { db }: Pick<Scope, 'db'>,
  type: RecordType,
  ids: readonly string[],
  { lock = false } = {},
): Promise<StoredRecord[]> {
  if (ids.length === 0) return []
  return (await db.query(asArrays(recordsByIds(type, lock)({ ids })))).map((row) => toRecord(type, row))
}

/** The values of one field of these records, in no order. For internal checks: it tests no caller's rights. */
export async function findValuesByIds(
  { db }: Pick<Scope, 'db'>,
  type: RecordType,
  field: Field,
  ids: readonly string[],
): Promise<FieldValue[]> {
  if (ids.length === 0) return []
  return (await db.query(asArrays(valuesByIds(type, field)({ ids })))).map(([, cell, code]) => readValue(field, cell, code))
}
