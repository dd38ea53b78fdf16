import { auditSlots, presentValuesView } from '#shared/core/records/audit/audit-values.ts'
import { insertRecords } from '#shared/core/records/create/insert-many-store.ts'
import { toColumnValues, type Values } from '#shared/core/records/record.ts'
import { noteLongRecord, textLength } from '#shared/core/records/text-size.ts'
import type { Scope } from '#shared/core/scope/scope.ts'
import type { RecordType } from '#shared/core/types/record-type.ts'
import { wakeAfterChange } from '#shared/platform/events/listen.ts'

/**
 * Stores new records with their audit entries and events, in one statement and in their order. It leaves out records with a
 * unique value that the table or an earlier record of the list holds, and returns their positions from 0.
 */
export async function insertManyRecords(scope: Scope, type: RecordType, drafts: readonly Values[]): Promise<readonly number[]> {
  for (const values of drafts) await noteLongRecord(scope, type, values)
  const insertedRows = drafts.map((values, position) => ({
    position,
    after: presentValuesView(type, values),
    length: textLength(values),
    ...toFilledColumns(type, values),
  }))
  const statement = insertRecords(type)({
    ...auditSlots(scope, type, null, null),
    createdBy: scope.actor.id,
    typeId: type.id,
    rows: JSON.stringify(insertedRows),
  })
  const rows = await scope.db.query(statement)
  if (rows.length > 0) await wakeAfterChange(scope, type.key, 'created')
  const stored = new Set(rows.map(({ position }) => position))
  return [...drafts.keys()].filter((position) => !stored.has(position))
}

/** Column parameters of the fields with a value. */
function toFilledColumns(type: RecordType, values: Values): Record<string, unknown> {
  const fields = type.fields.filter(({ key }) => (values[key] ?? null) !== null)
  return toColumnValues(fields, values)
}
