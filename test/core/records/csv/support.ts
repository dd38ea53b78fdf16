import { type CsvRow, readCsv } from '#shared/core/records/csv/read.ts'
import { Problem } from '#shared/platform/kernel/errors.ts'

/** Bytes in chunks of a size. */
export async function* chunked(bytes: Uint8Array, size = 64 * 1024): AsyncGenerator<Uint8Array> {
  for (let start = 0; start < bytes.length; start += size) yield bytes.subarray(start, start + size)
}

export interface ReadFile {
  readonly header: readonly string[]
  readonly rows: readonly CsvRow[]
}

/** A whole CSV file in memory, read through the codec in chunks of a size. */
export async function readAll(content: string | Uint8Array, size?: number): Promise<ReadFile> {
  const bytes = typeof content === 'string' ? Buffer.from(content) : content
  const { header, rows } = await readCsv(chunked(bytes, size))
  return { header, rows: await Array.fromAsync(rows) }
}

/** The cells of rows that have no error. */
export const cellsOf = (file: ReadFile): readonly (readonly string[])[] => file.rows.flatMap((row) => ('cells' in row ? [row.cells] : []))

/** The message of the VALIDATION_ERROR that reading the content throws; undefined without an error. */
export async function complaintOf(content: string | Uint8Array, size?: number): Promise<string | undefined> {
  try {
    await readAll(content, size)
  } catch (error) {
    if (error instanceof Problem && error.code === 'VALIDATION_ERROR') return error.message
    throw error
  }
  return undefined
}
