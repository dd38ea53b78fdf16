import { changeSlots, filledView } from '#shared/core/records/audit/audit-values.ts'
import { cellsOf } from '#shared/core/records/column-values.ts'
import { insertRecords } from '#shared/core/records/create/insert-many-store.ts'
import type { Values } from '#shared/core/records/record.ts'
import { noteLength, textLength } from '#shared/core/records/text-size.ts'
import type { Scope } from '#shared/core/scope/scope.ts'
import type { RecordType } from '#shared/core/types/record-type.ts'
import { announce } from '#shared/platform/events/announce.ts'

/**
 * Stores new records with their audit entries, and one dispatch for all of them, in one statement and in their order. One whose value a
 * unique field holds already, in the table or further up in the list, is left out: gives the positions of those that were, from 0.
 */
export async function insertMany(scope: Scope, type: RecordType, drafts: readonly Values[]): Promise<readonly number[]> {
  for (const values of drafts) await noteLength(scope, type, values)
  const sent = drafts.map((values, position) => ({
    position,
    after: filledView(type, values),
    length: textLength(values),
    ...filledCells(type, values),
  }))
  const statement = insertRecords(type)({
    ...changeSlots(scope, type, null, null),
    createdBy: scope.actor.id,
    typeId: type.id,
    rows: JSON.stringify(sent),
  })
  const rows = await scope.db.query<{ position: number; dispatched: boolean }>(statement)
  announce(scope, rows[0])
  const stored = new Set(rows.map(({ position }) => position))
  return [...drafts.keys()].filter((position) => !stored.has(position))
}

function filledCells(type: RecordType, values: Values): Record<string, unknown> {
  const fields = type.fields.filter(({ key }) => (values[key] ?? null) !== null)
  return cellsOf(fields, values)
}
