import type { CsvRow } from '#shared/core/records/csv/read.ts'

/** How much of a file is worked off at a time. */
export interface RowGroupSize {
  readonly rows: number
  /** UTF-16 code units of all cells; a row that is longer by itself is a step of its own. */
  readonly characters: number
}

/** The rows behind the first `skipped`, in steps that are no larger than the size. */
export async function* groupRows(rows: AsyncIterable<CsvRow>, skipped: number, size: RowGroupSize): AsyncGenerator<readonly CsvRow[]> {
  let step: CsvRow[] = []
  let characters = 0
  for await (const row of rows) {
    if (row.row <= skipped) continue
    const length = lengthOf(row)
    if (step.length > 0 && (step.length === size.rows || characters + length > size.characters)) {
      yield step
      step = []
      characters = 0
    }
    step.push(row)
    characters += length
  }
  if (step.length > 0) yield step
}

const lengthOf = (row: CsvRow): number => ('cells' in row ? row.cells.reduce((sum, cell) => sum + cell.length, 0) : 0)
