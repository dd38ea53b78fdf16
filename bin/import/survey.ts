import { open, stat } from 'node:fs/promises'
import type { CellFormat } from '#shared/core/records/csv/cell-format.ts'
import { readCsv } from '#shared/core/records/csv/read.ts'
import { problem } from '#shared/platform/kernel/errors.ts'
import { type Column, watchColumn } from './column.ts'

/** Columns and row count of a file, found by reading it once without keeping its rows. */
export interface Survey {
  readonly columns: readonly Column[]
  /** Data rows, including those with an error. */
  readonly rows: number
}

/** Reads a CSV file of this format to its end. Throws VALIDATION_ERROR when it is not CSV or cannot be read. */
export async function surveyFile(path: string, format: CellFormat): Promise<Survey> {
  const { header, rows } = await readCsv(await openFile(path))
  const columns = header.map((name) => watchColumn(name, format))
  let count = 0
  for await (const row of rows) {
    count += 1
    if ('error' in row) continue
    for (const [index, cell] of row.cells.entries()) columns[index]?.addCell(cell)
  }
  return { columns: columns.map((column) => column.result()), rows: count }
}

/** Opens a regular file. Throws VALIDATION_ERROR for anything else, such as a pipe, since the import reads the file a second time. */
async function openFile(path: string): Promise<AsyncIterable<Buffer>> {
  try {
    if ((await stat(path)).isFile()) return (await open(path)).createReadStream()
  } catch (cause) {
    throw problem('VALIDATION_ERROR', `file cannot be read: ${(cause as Error).message}`, { cause })
  }
  throw problem('VALIDATION_ERROR', `file must be a file on a disk, got ${path}`)
}
