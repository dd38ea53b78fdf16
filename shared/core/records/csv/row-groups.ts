import type { CsvRow } from '#shared/core/records/csv/read.ts'

/** Maximum size of a group of rows. */
export interface RowGroupSize {
  readonly rows: number
  /** UTF-16 code units of all cells. A longer row forms a group of its own. */
  readonly characters: number
}

/** The rows after the first `skipped`, in groups no larger than `size`. */
export async function* groupRows(rows: AsyncIterable<CsvRow>, skipped: number, size: RowGroupSize): AsyncGenerator<readonly CsvRow[]> {
  let group: CsvRow[] = []
  let characters = 0
  for await (const row of rows) {
    if (row.row <= skipped) continue
    const length = lengthOf(row)
    if (group.length > 0 && (group.length === size.rows || characters + length > size.characters)) {
      yield group
      group = []
      characters = 0
    }
    group.push(row)
    characters += length
  }
  if (group.length > 0) yield group
}

const lengthOf = (row: CsvRow): number => ('cells' in row ? row.cells.reduce((sum, cell) => sum + cell.length, 0) : 0)
