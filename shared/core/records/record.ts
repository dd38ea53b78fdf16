import type { TestedRecord } from '#shared/core/policy/evaluate.ts'
import { memoizeByObject } from '#shared/core/policy/memoize.ts'
import { ownColumns } from '#shared/core/records/record-columns.ts'
import { plainKind, readFirstCell } from '#shared/core/types/field-kinds/field-kind.ts'
import { fieldKinds } from '#shared/core/types/field-kinds/field-kinds.ts'
import type { Field } from '#shared/core/types/fields/field.ts'
import type { RecordType } from '#shared/core/types/record-type.ts'
import { valueColumnsOf } from '#shared/core/types/tables/table-names.ts'
import { problem } from '#shared/platform/kernel/errors.ts'
import type { FieldValue } from '#shared/platform/kernel/field-type.ts'

/** Values by field key. The object inherits nothing, so a field's key may be `constructor` or `__proto__`. */
export type Values = Record<string, FieldValue>

// Objects of a constructor with an empty prototype keep V8's fast properties, unlike Object.create(null): filling takes half the time.
const Empty = function Values() {} as unknown as new () => object
Empty.prototype = Object.create(null)

export const emptyValues = (): Values => new Empty() as Values

/** A record in memory. Rules are tested on this form. */
export interface StoredRecord extends TestedRecord {
  readonly id: string
  readonly created_at: string
  readonly updated_at: string
  readonly values: Values
}

/** A record in a response (docs/contract/records.md#record). A field without a value is null; one that the caller may not see is absent. */
export interface RecordView {
  readonly id: string
  readonly object_type: string
  readonly created_by: string | null
  readonly created_at: string
  readonly updated_at: string
  readonly values: Readonly<Record<string, unknown>>
}

/** A row read with `asArrays`: the cells of `recordColumns` in their order, then any others that the statement selects. */
export type RecordRow = readonly unknown[]

/** The id of a row's record. */
export const rowId = (row: RecordRow): string => row[0] as string

/** A field's value from its cells. `code` is the second cell of a field with two columns. */
export function readValue({ type, codeColumn }: Field, cell: unknown, code: unknown): FieldValue {
  const { fromColumns } = fieldKinds[type]
  if (cell === null || fromColumns === readFirstCell) return cell as FieldValue
  return fromColumns(codeColumn === null ? [cell] : [cell, code])
}

/** Column parameters of the fields' values, by column name; null for an empty value. */
export function toColumnValues(fields: readonly Field[], values: Values): Record<string, unknown> {
  const cells: Record<string, unknown> = {}
  for (const field of fields) {
    const parameters = fieldKinds[field.type].toColumns(values[field.key] ?? null)
    for (const [index, column] of valueColumnsOf(field).entries()) cells[column] = parameters[index]
  }
  return cells
}

/** The record of a row. */
export function toRecord(type: RecordType, row: RecordRow): StoredRecord {
  const values = emptyValues()
  for (const { field, index } of fieldCellsOf(type)) values[field.key] = readValue(field, row[index], row[index + 1])
  const [id, created_by, created_at, updated_at] = row as OwnCells
  return { id, object_type: type.key, created_by, created_at, updated_at, values }
}

/** A row with all fields as a response carries it: `toRecordView` of `toRecord` without the intermediate record. */
export function rowToRecordView(type: RecordType, row: RecordRow): RecordView {
  const values = new Empty() as Record<string, unknown>
  for (const { field, index, toJson } of fieldCellsOf(type)) {
    const cell = row[index]
    values[field.key] = cell === null || toJson === undefined ? cell : toJson(cell, row[index + 1])
  }
  const [id, created_by, created_at, updated_at] = row as OwnCells
  return { id, object_type: type.key, created_by, created_at, updated_at, values }
}

type OwnCells = readonly [id: string, created_by: string | null, created_at: string, updated_at: string]

/** The index of a field's first cell in a row, and its conversion to JSON; undefined where the first cell is the JSON value. */
interface FieldCells {
  readonly field: Field
  readonly index: number
  readonly toJson: ((cell: unknown, code: unknown) => unknown) | undefined
}

/** The cells of a type's fields, cached per type: looking up a field's kind for every cell takes a quarter of the time of a page. */
const fieldCellsOf = memoizeByObject(({ fields }: RecordType): readonly FieldCells[] => {
  let nextIndex = Object.keys(ownColumns).length
  return fields.map((field) => {
    const index = nextIndex
    nextIndex += valueColumnsOf(field).length
    return { field, index, toJson: jsonConversionOf(field) }
  })
})

function jsonConversionOf(field: Field): FieldCells['toJson'] {
  const { fromColumns, toJson } = fieldKinds[field.type]
  if (fromColumns === readFirstCell && toJson === plainKind.toJson) return undefined
  return (cell, code) => {
    const value = readValue(field, cell, code)
    return value === null ? null : toJson(value)
  }
}

/** A record as a response carries it, with the fields in `visible`, or all. */
export function toRecordView(type: RecordType, record: StoredRecord, visible?: ReadonlySet<string>): RecordView {
  const { id, object_type, created_by, created_at, updated_at } = record
  return { id, object_type, created_by, created_at, updated_at, values: toValuesView(type, record.values, visible) }
}

/** The values of a record as a response carries them: those in `visible`, or all. */
export function toValuesView(type: RecordType, values: Values, visible?: ReadonlySet<string>): Record<string, unknown> {
  const view = new Empty() as Record<string, unknown>
  for (const field of type.fields) {
    if (visible && !visible.has(field.key)) continue
    const value = values[field.key] ?? null
    view[field.key] = value === null ? null : fieldKinds[field.type].toJson(value)
  }
  return view
}

/** The ETag of a record, equal for all callers. Every change alters it, because the database keeps the time of a change in microseconds. */
export const recordEtag = ({ updated_at }: Pick<StoredRecord, 'updated_at'>): string => `"${updated_at.replace(/\D/g, '')}"`

/**
 * Throws PRECONDITION_FAILED when If-Match does not name the stored version (RFC 9110, section 13.1.1). An empty `ifMatch` or `*` accepts
 * any version.
 */
export function requireVersion(stored: StoredRecord, ifMatch: string): void {
  if (ifMatch === '' || ifMatch.trim() === '*') return
  const versions = ifMatch.split(',').map((version) => version.trim())
  if (!versions.includes(recordEtag(stored))) throw problem('PRECONDITION_FAILED')
}
