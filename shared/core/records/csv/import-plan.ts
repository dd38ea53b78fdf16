import { createHash } from 'node:crypto'
import { recordAccessFor, requireRecordAccess } from '#shared/core/records/access.ts'
import { requireUpsertField } from '#shared/core/records/change/upsert-field.ts'
import { type CellFormat, toExportedCell } from '#shared/core/records/csv/cell-format.ts'
import { parseColumnMap, quote } from '#shared/core/records/csv/column-map.ts'
import { type Columns, ignoredColumns, matchColumns } from '#shared/core/records/csv/columns.ts'
import type { ImportQuery } from '#shared/core/records/csv/schemas.ts'
import { isComputed } from '#shared/core/records/input.ts'
import { emptyValues, toColumnValues, type Values } from '#shared/core/records/record.ts'
import type { Scope } from '#shared/core/scope/scope.ts'
import { isBlank, parseCell } from '#shared/core/types/field-kinds/value.ts'
import type { Field } from '#shared/core/types/fields/field.ts'
import type { RecordType } from '#shared/core/types/record-type.ts'
import { Problem, problem } from '#shared/platform/kernel/errors.ts'
import type { FieldValue } from '#shared/platform/kernel/field-type.ts'

/** How the rows of a file are read, and which field tells whether a record exists. */
export interface ImportPlan {
  readonly header: readonly string[]
  readonly columns: Columns
  /** Names of columns that name no field. */
  readonly ignored: readonly string[]
  /** The field of `upsert_by`; undefined when every row creates a record. */
  readonly keyField: Field | undefined
  readonly format: CellFormat
  readonly defaultCurrency: string
}

/**
 * Plans an import by the header of its file. Throws FORBIDDEN when the caller may import no record, VALIDATION_ERROR when the parameters do not
 * fit the file or the type.
 */
export function planImport(scope: Scope, type: RecordType, header: readonly string[], query: ImportQuery): ImportPlan {
  requireRecordAccess(scope, type, 'records:import')
  const map = query.map === undefined ? undefined : parseColumnMap(query.map)
  const { neverVisible } = recordAccessFor(scope, type, 'records:read')
  const named = type.fields.filter(({ key }) => !neverVisible.has(key))
  const columns = matchColumns(header, type.fields, map, named)
  const { default_currency: defaultCurrency, timezone: timeZone } = scope.workspace
  return {
    header,
    columns,
    ignored: ignoredColumns(header, columns, map),
    keyField: query.upsert_by === undefined ? undefined : requireKeyField(scope, type, columns, query.upsert_by),
    format: { decimal: query.decimal, dates: query.dates, timeZone },
    defaultCurrency,
  }
}

/** The field of `upsert_by`, which a column must fill. */
function requireKeyField(scope: Scope, type: RecordType, columns: Columns, key: string): Field {
  const field = requireUpsertField(scope, type, key, 'upsert_by', quote(key))
  if (!columns.includes(field)) throw problem('VALIDATION_ERROR', `file must have a column for upsert_by, the field ${key}`)
  return field
}

/** The values of a row's cells. A cell without a value gives none, so that it clears nothing. Throws VALIDATION_ERROR that names the field. */
export function parseCells({ columns, format, defaultCurrency }: ImportPlan, cells: readonly string[]): Values {
  const values = emptyValues()
  for (const [index, field] of columns.entries()) {
    const cell = cells[index] ?? ''
    if (field === null || isComputed(field) || cell === '') continue
    const value = parseField(cell, field, format, defaultCurrency)
    if (value !== null) values[field.key] = value
  }
  return values
}

function parseField(cell: string, field: Field, format: CellFormat, defaultCurrency: string): FieldValue {
  const path = `values.${field.key}`
  return parseCell(toExportedCell(cell, field.type, format, path), field, { path, defaultCurrency })
}

/** The name of the column that fills the field which a message names; undefined where it names none, or one that no column fills. */
export function columnOfMessage({ header, columns }: ImportPlan, message: string): string | undefined {
  const [, key] = /^values\.([a-z0-9_]+)/.exec(message) ?? []
  const index = key === undefined ? -1 : columns.findIndex((field) => field?.key === key)
  return header[index]
}

/** A text that values of a unique field share when they are equal; undefined for no value. */
export function uniqueTextOf(field: Field, value: FieldValue): string | undefined {
  if (isBlank(value)) return undefined
  return JSON.stringify(Object.values(toColumnValues([field], { [field.key]: value })))
}

/** Rows whose key an earlier row of the file has, each with the number of that row. */
export type RepeatedRows = ReadonlyMap<number, number>

/** Collects the rows that repeat a key. */
export function createKeyIndex({ keyField, columns, format, defaultCurrency }: ImportPlan) {
  const firstRows = new Map<string, number>()
  const repeated = new Map<number, number>()
  const position = keyField ? columns.indexOf(keyField) : -1
  return {
    repeated: repeated as RepeatedRows,
    add(row: number, cells: readonly string[]): void {
      const cell = cells[position] ?? ''
      if (!keyField || cell === '') return
      const key = keyText(keyField, cell)
      if (key === undefined) return
      const first = firstRows.get(key)
      if (first === undefined) firstRows.set(key, row)
      else repeated.set(row, first)
    },
  }

  /** Digest of the key, since a text may be long; undefined for a cell without a value or with a wrong one, which the row is refused for. */
  function keyText(field: Field, cell: string): string | undefined {
    try {
      const text = uniqueTextOf(field, parseField(cell, field, format, defaultCurrency))
      return text === undefined ? undefined : createHash('sha256').update(text).digest('base64')
    } catch (error) {
      if (error instanceof Problem && error.status < 500) return undefined
      throw error
    }
  }
}
