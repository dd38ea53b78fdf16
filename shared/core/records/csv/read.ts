import { pipeline, Readable } from 'node:stream'
import { CsvError, type Parser, parse } from 'csv-parse'
import { decodeText } from '#shared/core/records/csv/decode.ts'
import { unescapeCell } from '#shared/core/records/csv/escape-cell.ts'
import { createHeaderScanner, type Separator } from '#shared/core/records/csv/separator.ts'
import { problem } from '#shared/platform/kernel/errors.ts'

/** Characters of a header row, and bytes of a record; a file that reaches them has a quote that nothing closes, or is no CSV. */
export const maxHeaderLength = 256_000
export const maxRecordBytes = 4_000_000

/** One data row: its cells, as many as the header has at most, or what is wrong with it. `row` counts from 1 without the header. */
export type CsvRow = { readonly row: number; readonly cells: readonly string[] } | { readonly row: number; readonly error: string }

/** A CSV file whose header is read. Iterate its rows once, or `close` it: either lets go of the source. */
export interface CsvFile {
  /** The names of the first row, blanks at their ends taken off. */
  readonly header: readonly string[]
  /** Rows in order, blank lines left out, the cell guard taken off. Iterating throws VALIDATION_ERROR where the file stops being CSV. */
  readonly rows: AsyncIterable<CsvRow>
  readonly close: () => void
}

/**
 * Reads CSV as it arrives: the memory that it takes does not grow with the file. Commas, semicolons or tabs; lines that end in LF, CRLF
 * or CR; quoted cells may hold line breaks (document 1 and decisions, Import). Throws VALIDATION_ERROR when the bytes are no text or
 * hold no header.
 */
export async function readCsv(chunks: AsyncIterable<Uint8Array>): Promise<CsvFile> {
  const text = decodeText(chunks)
  const { head, separator } = await readHead(text)
  const parser = startParser(head, text, separator)
  const records = parser.iterator() as AsyncIterator<readonly string[]>
  const first = await nextRecord(records)
  if (first === undefined) throw problem('VALIDATION_ERROR', 'file must have a header row, got a blank file')
  return { header: first.map((name) => name.trim()), rows: readRows(records, first.length), close: () => parser.destroy() }
}

async function readHead(text: AsyncGenerator<string>): Promise<{ head: string; separator: Separator }> {
  const scanner = createHeaderScanner()
  let head = ''
  for (;;) {
    const { value, done } = await text.next()
    if (done) break
    head += value
    if (scanner.read(value)) break
    if (head.length > maxHeaderLength) {
      await text.return(undefined)
      throw problem('VALIDATION_ERROR', `file must have a header row of at most ${maxHeaderLength} characters`)
    }
  }
  return { head, separator: scanner.separator() }
}

function startParser(head: string, rest: AsyncGenerator<string>, delimiter: Separator): Parser {
  const parser = parse({
    delimiter,
    record_delimiter: ['\r\n', '\n', '\r'],
    skip_empty_lines: true,
    // Rows of another length are judged one by one, and a stray quote is part of its cell.
    relax_column_count: true,
    relax_quotes: true,
    max_record_size: maxRecordBytes,
  })
  // The parser hands an error of either side to whoever iterates it.
  pipeline(Readable.from(joined(head, rest)), parser, () => {})
  return parser
}

async function* joined(head: string, rest: AsyncGenerator<string>): AsyncGenerator<string> {
  yield head
  yield* rest
}

async function* readRows(records: AsyncIterator<readonly string[]>, width: number): AsyncGenerator<CsvRow> {
  try {
    for (let row = 1; ; row++) {
      const cells = await nextRecord(records)
      if (cells === undefined) return
      yield readRow(row, cells, width)
    }
  } finally {
    await records.return?.()
  }
}

/** Missing cells at a row's end are cells without a value; blank ones too many, as spreadsheets leave them, are none. */
function readRow(row: number, cells: readonly string[], width: number): CsvRow {
  if (cells.slice(width).some((cell) => cell !== '')) return { row, error: `has ${cells.length} cells where the header has ${width}` }
  return { row, cells: cells.slice(0, width).map(unescapeCell) }
}

async function nextRecord(records: AsyncIterator<readonly string[]>): Promise<readonly string[] | undefined> {
  try {
    const { value, done } = await records.next()
    return done ? undefined : value
  } catch (cause) {
    throw cause instanceof CsvError ? problem('VALIDATION_ERROR', `file: ${explain(cause)}`, { cause }) : cause
  }
}

const complaints: Readonly<Record<string, string>> = {
  CSV_QUOTE_NOT_CLOSED: 'has a quoted cell that is never closed',
  CSV_MAX_RECORD_SIZE: `is longer than ${maxRecordBytes} bytes; is a quoted cell never closed?`,
}

/** The parser counts the records before the one that failed, the header among them, which makes it that row's own number. */
function explain(error: CsvError): string {
  const row = Number(error.records) === 0 ? 'the header row' : `row ${error.records}`
  return `${row} ${complaints[error.code] ?? error.message}`
}
