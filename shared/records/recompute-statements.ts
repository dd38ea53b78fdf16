import { builder } from '#shared/db/builder.ts'
import { type Statement, slot } from '#shared/db/statement.ts'
import { instantAfter } from '#shared/kernel/instant.ts'
import { cellsOf } from '#shared/records/cells.ts'
import { columnsOf, type StoredRecord } from '#shared/records/record.ts'
import { changedAt, shaped, tableOf } from '#shared/records/statements.ts'
import { fieldKinds } from '#shared/types/fields/kinds.ts'
import type { RecordType } from '#shared/types/record-type.ts'

// A recompute writes no audit entry, yet the records are others than before: their time of change says so, and with it their ETag.
const touched = `"updated_at" = ${changedAt('sent.next')}, ?? = null`

/** Stores the computed fields of records: one statement for all, with their ids and values as one JSON array. */
export function storeComputed(type: RecordType, records: readonly StoredRecord[]): Statement {
  const fields = type.computations.map(({ field }) => field)
  const statement = shaped(type, 'recompute store', () => {
    const columns = fields.flatMap((field) =>
      columnsOf(field).map((column, index) => ({ column, kind: fieldKinds[field.type].columns[index] ?? 'text' })),
    )
    return builder.raw(
      `update ? as record set ${touched}${', ?? = sent.??'.repeat(columns.length)}
       from json_to_recordset(?::json) as sent (id uuid, next timestamptz${columns.map(({ kind }) => `, ?? ${kind}`).join('')})
       where record.id = sent.id`,
      [
        tableOf(type),
        type.editionColumn,
        ...columns.flatMap(({ column }) => [column, column]),
        slot('rows'),
        ...columns.map(({ column }) => column),
      ] as never,
    )
  })
  return statement({ rows: JSON.stringify(records.map((record) => ({ ...touchOf(record), ...cellsOf(fields, record.values) }))) })
}

/** Empties the unique computed fields of records. */
export function emptyUnique(type: RecordType, records: readonly StoredRecord[]): Statement {
  const statement = shaped(type, 'recompute empty', () => {
    const columns = type.computations.flatMap(({ field }) => (field.unique ? columnsOf(field) : []))
    return builder.raw(
      `update ? as record set ${touched}${', ?? = null'.repeat(columns.length)}
       from json_to_recordset(?::json) as sent (id uuid, next timestamptz) where record.id = sent.id`,
      [tableOf(type), type.editionColumn, ...columns, slot('rows')] as never,
    )
  })
  return statement({ rows: JSON.stringify(records.map(touchOf)) })
}

const touchOf = ({ id, updated_at }: StoredRecord) => ({ id, next: instantAfter(updated_at) })
