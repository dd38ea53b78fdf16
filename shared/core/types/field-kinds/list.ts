import { plainKind } from '#shared/core/types/field-kinds/field-kind.ts'
import { invalidValueProblem } from '#shared/core/types/field-kinds/value-problem.ts'

/** Entries that a multiselect or refs value may have (document 1, Limits). */
export const maxEntries = 100

/** How the entries of a list are read. */
export interface ListRules {
  readonly max: number
  readonly distinct: boolean
  readonly parseEntry: (entry: unknown, path: string) => string
}

/** Reads an array of texts, each under its own path; throws VALIDATION_ERROR when it is none, too long, or not distinct as it must be. */
export function parseList(input: unknown, path: string, { max, distinct, parseEntry }: ListRules): readonly string[] {
  if (!Array.isArray(input)) throw invalidValueProblem(path, 'an array', input)
  if (input.length > max) throw invalidValueProblem(path, `at most ${max} entries long`, input.length)
  const entries = input.map((entry, index) => parseEntry(entry, `${path}[${index}]`))
  const twice =
    distinct && new Set(entries).size < entries.length ? entries.find((entry, index) => entries.indexOf(entry) < index) : undefined
  if (twice !== undefined) throw invalidValueProblem(path, 'an array without duplicates', twice)
  return entries
}

/** A cell of values: a JSON array, or texts separated by `|` (document 1, Import). */
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

/** What the list types share. */
export const listKind = {
  ...plainKind,
  sortable: false,
  canBeUnique: false,
  filter: null,
  fromCell: listFromCell,
  toCell: (value: readonly string[]): string => JSON.stringify(value),
} as const
