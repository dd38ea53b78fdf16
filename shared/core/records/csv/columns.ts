import { type ColumnMap, quote, requireMappedColumns, suggest } from '#shared/core/records/csv/column-map.ts'
import type { Field } from '#shared/core/types/fields/field.ts'
import { problem } from '#shared/platform/kernel/errors.ts'

/** The columns of a file in their order: the field that each fills, null for a column that is left out. */
export type Columns<F = Field> = readonly (F | null)[]

const noMap: ColumnMap = new Map()

/**
 * The field of each header column: the one that `map` names, else the one whose key is the column's name (docs/contract/records.md#files).
 * Throws VALIDATION_ERROR when `map` names a column or a field that does not exist, when two columns fill one field, and when no column
 * fills one. Messages suggest the keys of `named` alone.
 */
export function matchColumns<F extends { readonly key: string }>(
  header: readonly string[],
  fields: readonly F[],
  map: ColumnMap = noMap,
  named: readonly F[] = fields,
): Columns<F> {
  requireMappedColumns(map, header)
  const byKey = new Map(fields.map((field) => [field.key, field]))
  for (const [name, key] of map) {
    if (key === null || byKey.has(key)) continue
    throw problem('VALIDATION_ERROR', `map.${quote(name)} must be the key of a field, got ${quote(key)}${suggestField(key, named)}`)
  }
  const columns = header.map((name) => byKey.get((map.has(name) ? map.get(name) : name) ?? '') ?? null)
  requireOneColumnPerField(header, columns)
  // Names no field as an example: the caller might not be allowed to read it.
  if (!columns.some((field) => field !== null)) {
    throw problem('VALIDATION_ERROR', 'file must have a header row of which at least one column is the key of a field')
  }
  return columns
}

const suggestField = (key: string, named: readonly { readonly key: string }[]): string =>
  suggest(
    key,
    named.map((field) => field.key),
  )

function requireOneColumnPerField(header: readonly string[], columns: Columns<{ readonly key: string }>): void {
  const position = new Map<{ readonly key: string }, number>()
  for (const [index, field] of columns.entries()) {
    if (field === null) continue
    const first = position.get(field)
    position.set(field, index)
    if (first === undefined) continue
    const [one = '', other = ''] = [header[first], header[index]]
    if (one === field.key && other === field.key) throw problem('VALIDATION_ERROR', `file has more than one column ${field.key}`)
    throw problem(
      'VALIDATION_ERROR',
      `file has the columns ${quote(one)} and ${quote(other)} for the field ${field.key}; map one of them to null`,
    )
  }
}

/** The names of header columns that name no field and that `map` does not name. A column without a name has none to list. */
export const ignoredColumns = (header: readonly string[], columns: Columns<unknown>, map: ColumnMap = noMap): string[] =>
  header.filter((name, index) => name !== '' && columns[index] === null && !map.has(name))
