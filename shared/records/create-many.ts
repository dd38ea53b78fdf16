import { builder } from '#shared/db/builder.ts'
import { type Fill, slot } from '#shared/db/statement.ts'
import { announce } from '#shared/events/announce.ts'
import { dispatch, isDispatched } from '#shared/events/statements.ts'
import { changeSlots, filledView } from '#shared/records/audit.ts'
import { cellsOf } from '#shared/records/cells.ts'
import { columnsOf, type Values } from '#shared/records/record.ts'
import { noteLength, textLength } from '#shared/records/sizes.ts'
import { auditColumns, counted, shaped, tableOf } from '#shared/records/statements.ts'
import type { Scope } from '#shared/scope/scope.ts'
import type { Field } from '#shared/types/fields/field.ts'
import { fieldKinds } from '#shared/types/fields/kinds.ts'
import type { RecordType } from '#shared/types/record-type.ts'

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

/**
 * The rows come as one JSON array with every field as a column, so that a type has one such statement, however many rows there are and
 * whichever of their cells are filled. The database makes the ids one after the other, so they keep the order.
 */
const insertRecords = (type: RecordType): Fill =>
  shaped(type, 'insert many', () => {
    const columns = type.fields.flatMap(columnsOf)
    const names = columns.map(() => ', ??').join('')
    return builder.raw(
      `with fresh as materialized (
         select uuidv7() as id, sent.* from json_to_recordset(?::json) as sent (position integer, after jsonb, length integer${definitions(type.fields)})
       ),
       changed as (
         insert into ? (id, created_by, created_at, updated_at, ??${names})
         select id, ?::uuid, uuid_extract_timestamp(id), uuid_extract_timestamp(id), null::boolean${names} from fresh
         on conflict do nothing
         returning id, created_by, created_at, updated_at
       ),
       audited as (
         insert into audit_entries (${auditColumns})
         select ?::uuid, ?::uuid, ?, 'record.created', ?, id, null, after, length, ? from changed join fresh using (id) order by position
         returning id, record_id
       ),
       counted as (?),
       dispatched as (?)
       select position, ${isDispatched} from changed join fresh using (id)`,
      [
        slot('rows'),
        ...columns,
        tableOf(type),
        type.editionColumn,
        ...columns,
        slot('createdBy'),
        ...columns,
        ...['workspaceId', 'actorId', 'actorType', 'objectType', 'requestId'].map(slot),
        counted(1),
        dispatch('created'),
      ] as never,
    )
  })

/** The columns of the JSON rows; their names are the table's own, which end in a number and so are never one of the others'. */
const definitions = (fields: readonly Field[]): string =>
  fields.flatMap(({ type }) => fieldKinds[type].columns.map((column) => `, ?? ${column}`)).join('')
