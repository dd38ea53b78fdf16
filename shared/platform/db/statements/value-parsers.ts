import pg from 'pg'
import { parseStoredJson } from '#shared/platform/kernel/values/json.ts'

/** Parses a cell's text. */
export type ParseCell = (text: string) => unknown

/** Exact numbers, dates, instants and local times stay text, as the domain needs them (shared/platform/kernel/field-type.ts). */
const parsers: Readonly<Record<number, ParseCell>> = {
  [pg.types.builtins.INT8]: Number,
  [pg.types.builtins.NUMERIC]: String,
  [pg.types.builtins.DATE]: String,
  [pg.types.builtins.TIMESTAMPTZ]: toRfc3339,
  // The driver would read a local time in the process's own time zone.
  [pg.types.builtins.TIMESTAMP]: (text) => text.replace(' ', 'T'),
  [pg.types.builtins.JSON]: parseStoredJson,
  [pg.types.builtins.JSONB]: parseStoredJson,
}

/** The parser of a column, by its type's OID. */
export const findParser = (id: number): ParseCell => parsers[id] ?? (pg.types.getTypeParser(id, 'text') as ParseCell)

/** The parsers in the form that the driver takes. */
export const typeParsers: pg.CustomTypesConfig = { getTypeParser: findParser as pg.CustomTypesConfig['getTypeParser'] }

/** The columns of a statement's rows, in order. */
export interface RowColumns {
  readonly names: readonly string[]
  readonly parsers: readonly ParseCell[]
  /** A row of nulls. */
  readonly empty: Readonly<Record<string, null>>
}

/** Creates columns of these names and parsers. */
export const createColumns = (names: readonly string[], parsers: readonly ParseCell[]): RowColumns => ({
  names,
  parsers,
  empty: Object.fromEntries(names.map((name) => [name, null])),
})

/** The columns of a statement without rows. */
export const noColumns = createColumns([], [])

/** Reads a row as an array of its values. Cells after the columns are left out, here and in objects. */
export function readRowAsArray({ parsers }: RowColumns, cells: readonly (string | null)[]): unknown[] {
  return parsers.map((parse, index) => {
    const cell = cells[index]
    return typeof cell === 'string' ? parse(cell) : null
  })
}

/** Reads a row as an object by column. */
export function readRowAsObject({ names, parsers, empty }: RowColumns, cells: readonly (string | null)[]): Record<string, unknown> {
  const row: Record<string, unknown> = { ...empty }
  // By index: `entries` creates an array for every cell (measured: a third of the time for rows of 20 columns).
  for (let index = 0; index < names.length; index++) {
    const cell = cells[index]
    if (typeof cell === 'string') row[names[index] as string] = parsers[index]?.(cell)
  }
  return row
}

/**
 * `2026-11-21 08:00:00.5+00`, as PostgreSQL writes an instant in UTC, becomes `2026-11-21T08:00:00.500000Z`
 * (docs/contract/conventions.md#instants).
 */
function toRfc3339(text: string): string {
  // An unchanged record has equal creation and update times, so the same text often comes twice in a row.
  if (text !== latest.text) latest = { text, instant: `${text.slice(0, 10)}T${text.slice(11, 19)}.${text.slice(20, -3).padEnd(6, '0')}Z` }
  return latest.instant
}

let latest = { text: '', instant: '' }
