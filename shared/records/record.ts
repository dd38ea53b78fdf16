import type { TestedRecord } from '#shared/access/evaluate.ts'
import type { FieldValue } from '#shared/kernel/field-type.ts'
import type { Field } from '#shared/types/fields/field.ts'
import { fieldKinds } from '#shared/types/fields/kinds.ts'
import type { RecordType } from '#shared/types/record-type.ts'

/** Values by field key. It has no prototype, so a field may be called `constructor`. */
export type Values = Record<string, FieldValue>
export const noValues = (): Values => Object.create(null) as Values

/** A record as the domain holds it; rules are tested on this form. */
export interface StoredRecord extends TestedRecord {
  readonly id: string
  readonly created_at: string
  readonly updated_at: string
  readonly values: Values
}

/** A record as a response carries it (document 1, Record): a field without a value is null, one that the caller may not see is absent. */
export interface RecordView {
  readonly id: string
  readonly object_type: string
  readonly created_by: string | null
  readonly created_at: string
  readonly updated_at: string
  readonly values: Readonly<Record<string, unknown>>
}

/** A row of a type's table, by column. */
export type Row = Readonly<Record<string, unknown>> & {
  readonly id: string
  readonly created_by: string | null
  readonly created_at: string
  readonly updated_at: string
}

/** The columns of every record's row. */
export const ownColumns = ['id', 'created_by', 'created_at', 'updated_at'] as const

/** The columns of a field's values: one, or two for a currency. */
export const columnsOf = ({ column, codeColumn }: Field): readonly string[] => (codeColumn === null ? [column] : [column, codeColumn])

/** All columns of a type's table, in the order of its fields. */
export const allColumns = ({ fields }: RecordType): readonly string[] => [...ownColumns, ...fields.flatMap(columnsOf)]

/** A field's value in a row. */
export const valueIn = (row: Row, field: Field): FieldValue => {
  const cells = field.codeColumn === null ? [row[field.column]] : [row[field.column], row[field.codeColumn]]
  return cells[0] === null || cells[0] === undefined ? null : fieldKinds[field.type].fromColumns(cells)
}

/** The record of a row. */
export function recordOf(type: RecordType, row: Row): StoredRecord {
  const values = noValues()
  for (const field of type.fields) values[field.key] = valueIn(row, field)
  const { id, created_by, created_at, updated_at } = row
  return { id, object_type: type.key, created_by, created_at, updated_at, values }
}

/** What a caller sees of a record: the fields in `visible`, or all of them. */
export function viewOf(type: RecordType, record: StoredRecord, visible?: ReadonlySet<string>): RecordView {
  const { id, object_type, created_by, created_at, updated_at } = record
  return { id, object_type, created_by, created_at, updated_at, values: viewOfValues(type, record.values, visible) }
}

/** The values of a record as a response carries them. */
export function viewOfValues(type: RecordType, values: Values, visible?: ReadonlySet<string>): Record<string, unknown> {
  const view: Record<string, unknown> = Object.create(null)
  for (const field of type.fields) {
    if (visible && !visible.has(field.key)) continue
    const value = values[field.key] ?? null
    view[field.key] = value === null ? null : fieldKinds[field.type].toJson(value)
  }
  return view
}
