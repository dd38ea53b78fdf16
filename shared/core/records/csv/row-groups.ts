import type { CsvRow } from '#shared/core/records/csv/read.ts'
import { type GroupLimits, groupBySize } from '#shared/platform/kernel/values/group-by-size.ts'

/** The rows after the first `skipped`, in groups within the limits. The size of a row is the number of UTF-16 code units of its cells. */
export const groupRows = (rows: AsyncIterable<CsvRow>, skipped: number, limits: GroupLimits): AsyncGenerator<readonly CsvRow[]> =>
  groupBySize(rowsAfter(rows, skipped), lengthOf, limits)

async function* rowsAfter(rows: AsyncIterable<CsvRow>, skipped: number): AsyncGenerator<CsvRow> {
  for await (const row of rows) if (row.row > skipped) yield row
}

const lengthOf = (row: CsvRow): number => ('cells' in row ? row.cells.reduce((sum, cell) => sum + cell.length, 0) : 0)
