import type { TestedRecord } from '#shared/core/policy/evaluate.ts'
import { plainKind, readFirstCell } from '#shared/core/types/field-kinds/field-kind.ts'
import { fieldKinds } from '#shared/core/types/field-kinds/field-kinds.ts'
import type { Field } from '#shared/core/types/fields/field.ts'
import type { RecordType } from '#shared/core/types/record-type.ts'
import type { FieldValue } from '#shared/platform/kernel/field-type.ts'

/** Values by field key. Nothing is inherited, so a field may be called `constructor` or `__proto__`. */
export type Values = Record<string, FieldValue>

// Objects of a constructor whose prototype is empty keep V8's fast form, which those of Object.create(null) do not: half the time to fill.
const Empty = function Values() {} as unknown as new () => object
Empty.prototype = Object.create(null)

export const emptyValues = (): Values => new Empty() as Values

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

/** A row of `allColumns`, in that order, and behind them whatever else its statement selects. It is read by a statement `asArrays`. */
export type RecordRow = readonly unknown[]

/** The id of a row's record. */
export const rowId = (row: RecordRow): string => row[0] as string

/** The columns of every record's row. */
export const ownColumns = ['id', 'created_by', 'created_at', 'updated_at'] as const

/** The columns of a field's values: one, or two for a currency. */
export const valueColumnsOf = ({ column, codeColumn }: Field): readonly string[] => (codeColumn === null ? [column] : [column, codeColumn])

/** All columns of a type's table, in the order of its fields. */
export const recordColumns = ({ fields }: RecordType): readonly string[] => [...ownColumns, ...fields.flatMap(valueColumnsOf)]

/** A field's value in its cells; `code` is the second one of a field with two columns. */
export function readValue({ type, codeColumn }: Field, cell: unknown, code: unknown): FieldValue {
  const { fromColumns } = fieldKinds[type]
  if (cell === null || fromColumns === readFirstCell) return cell as FieldValue
  return fromColumns(codeColumn === null ? [cell] : [cell, code])
}

/** The record of a row. */
export function toRecord(type: RecordType, row: RecordRow): StoredRecord {
  const values = emptyValues()
  for (const { field, place } of placesOf(type)) values[field.key] = readValue(field, row[place], row[place + 1])
  const [id, created_by, created_at, updated_at] = row as OwnCells
  return { id, object_type: type.key, created_by, created_at, updated_at, values }
}

/** What a caller who may see all of it sees of a row: the same as `viewOf` of `recordOf`, without the record between. */
export function rowToRecordView(type: RecordType, row: RecordRow): RecordView {
  const values = new Empty() as Record<string, unknown>
  for (const { field, place, show } of placesOf(type)) {
    const cell = row[place]
    values[field.key] = cell === null || show === undefined ? cell : show(cell, row[place + 1])
  }
  const [id, created_by, created_at, updated_at] = row as OwnCells
  return { id, object_type: type.key, created_by, created_at, updated_at, values }
}

type OwnCells = readonly [id: string, created_by: string | null, created_at: string, updated_at: string]

/** Where a field stands in a row, and how its cells are shown; undefined where the first one is shown as it is. */
interface Place {
  readonly field: Field
  readonly place: number
  readonly show: ((cell: unknown, code: unknown) => unknown) | undefined
}

const known = new WeakMap<RecordType, readonly Place[]>()

/** The places of a type's fields, worked out once: looking a field's kind up for every cell takes a quarter of the time of a page. */
function placesOf(type: RecordType): readonly Place[] {
  const kept = known.get(type)
  if (kept) return kept
  let place: number = ownColumns.length
  const places = type.fields.map((field) => {
    const at = place
    place += valueColumnsOf(field).length
    return { field, place: at, show: showOf(field) }
  })
  known.set(type, places)
  return places
}

function showOf(field: Field): Place['show'] {
  const { fromColumns, toJson } = fieldKinds[field.type]
  if (fromColumns === readFirstCell && toJson === plainKind.toJson) return undefined
  return (cell, code) => {
    const value = readValue(field, cell, code)
    return value === null ? null : toJson(value)
  }
}

/** What a caller sees of a record: the fields in `visible`, or all of them. */
export function toRecordView(type: RecordType, record: StoredRecord, visible?: ReadonlySet<string>): RecordView {
  const { id, object_type, created_by, created_at, updated_at } = record
  return { id, object_type, created_by, created_at, updated_at, values: toValuesView(type, record.values, visible) }
}

/** The values of a record as a response carries them. */
export function toValuesView(type: RecordType, values: Values, visible?: ReadonlySet<string>): Record<string, unknown> {
  const view = new Empty() as Record<string, unknown>
  for (const field of type.fields) {
    if (visible && !visible.has(field.key)) continue
    const value = values[field.key] ?? null
    view[field.key] = value === null ? null : fieldKinds[field.type].toJson(value)
  }
  return view
}
