import { type KindFilter, plainKind } from '#shared/core/types/field-kinds/field-kind.ts'
import { invalidValueProblem } from '#shared/core/types/field-kinds/value-problem.ts'
import type { SqlType } from '#shared/platform/db/statements/sql-types.ts'
import type { FieldValue } from '#shared/platform/kernel/field-type.ts'

/** Maximum entries of a multiselect or refs value (docs/contract/records.md#values). */
export const maxEntries = 100

/** The rules for reading a list's entries. */
interface ListRules {
  readonly max: number
  readonly distinct: boolean
  readonly parseEntry: (entry: unknown, path: string) => string
}

/** Reads an array of texts, each under its own path. Throws VALIDATION_ERROR for no array, too many entries or refused duplicates. */
export function parseList(input: unknown, path: string, { max, distinct, parseEntry }: ListRules): readonly string[] {
  if (!Array.isArray(input)) throw invalidValueProblem(path, 'an array', input)
  if (input.length > max) throw invalidValueProblem(path, `at most ${max} entries long`, input.length)
  const entries = input.map((entry, index) => parseEntry(entry, `${path}[${index}]`))
  const duplicate =
    distinct && new Set(entries).size < entries.length ? entries.find((entry, index) => entries.indexOf(entry) < index) : undefined
  if (duplicate !== undefined) throw invalidValueProblem(path, 'an array without duplicates', duplicate)
  return entries
}

/** Reads a CSV cell: a JSON array, or texts separated by `|` (docs/contract/records.md#cells). */
function listFromCell(text: string): unknown {
  const trimmed = text.trim()
  if (trimmed === '') return null
  if (trimmed.startsWith('[')) {
    try {
      return JSON.parse(trimmed) as unknown
    } catch {
      // An option may start with a bracket: read it as text.
    }
  }
  return trimmed
    .split('|')
    .map((entry) => entry.trim())
    .filter((entry) => entry !== '')
}

/** Filter of a list: `has` one entry. `type` is the column's; `readEntry` throws VALIDATION_ERROR for a text that no entry can equal. */
export const listFilter = (type: SqlType<unknown, unknown>, readEntry: (text: string, path: string) => string): KindFilter => ({
  operators: ['has', 'has_any', 'empty', 'not_empty'],
  defaultOperator: null,
  emptySql: '(?? is null or cardinality(??) = 0)',
  read(_operator, value, path) {
    const entry = readEntry(value, path)
    return {
      sql: '?? @> ?',
      values: [[entry]],
      valueType: type,
      matches: (list: FieldValue) => list !== null && (list as readonly string[]).includes(entry),
    }
  },
})

/** The defaults of the list types. */
export const listKind = {
  ...plainKind,
  sortable: false,
  canBeUnique: false,
  fromCell: listFromCell,
  toCell: (value: readonly string[]): string => JSON.stringify(value),
} as const
