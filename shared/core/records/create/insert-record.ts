import { auditSlots } from '#shared/core/records/audit/audit-values.ts'
import { toDuplicateProblem } from '#shared/core/records/duplicate-value.ts'
import { type StoredRecord, toColumnValues, type Values } from '#shared/core/records/record.ts'
import { insertRecord } from '#shared/core/records/store.ts'
import { noteLongRecord } from '#shared/core/records/text-size.ts'
import type { Scope } from '#shared/core/scope/scope.ts'
import type { RecordType } from '#shared/core/types/record-type.ts'
import { wakeAfterChange } from '#shared/platform/events/listen.ts'

/** Stores a new record with its audit entry. Throws DUPLICATE_VALUE that names the field. */
export async function insertNewRecord(scope: Scope, type: RecordType, values: Values): Promise<StoredRecord> {
  await noteLongRecord(scope, type, values)
  const statement = insertRecord(type)({
    ...toColumnValues(type.fields, values),
    ...auditSlots(scope, type, null, values),
    createdBy: scope.actor.id,
    typeId: type.id,
  })
  try {
    const [row] = await scope.db.query(statement)
    if (!row) throw new Error('The statement of a creation returned no row')
    const { id, created_at } = row
    await wakeAfterChange(scope, type.key, 'created')
    return { id, object_type: type.key, created_by: scope.actor.id, created_at, updated_at: created_at, values }
  } catch (error) {
    throw toDuplicateProblem(type, error)
  }
}
