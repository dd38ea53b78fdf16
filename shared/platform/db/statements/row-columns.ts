import type { ParseCell } from '#shared/platform/db/statements/value-parsers.ts'

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

/** Reads a row as an array of its values. */
export function readRowAsArray({ parsers }: RowColumns, cells: readonly (string | null)[]): unknown[] {
  return cells.map((cell, index) => (cell === null ? null : parsers[index]?.(cell)))
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
