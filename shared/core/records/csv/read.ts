import { pipeline, Readable } from 'node:stream'
import { CsvError, type Parser, parse } from 'csv-parse'
import { decodeText } from '#shared/core/records/csv/decode.ts'
import { unescapeCell } from '#shared/core/records/csv/write.ts'
import { problem } from '#shared/platform/kernel/errors.ts'

/** Maximum characters of the header row. A file that exceeds this or the next limit has an unclosed quote or is not CSV. */
export const maxHeaderLength = 256_000
/** Maximum bytes of a row. */
export const maxRowBytes = 4_000_000

/** One data row: its cells, at most as many as the header has, or what is wrong with it. `row` is 1 for the row after the header. */
export type CsvRow = { readonly row: number; readonly cells: readonly string[] } | { readonly row: number; readonly error: string }

/** A CSV file whose header has been read. To release the source, iterate the rows (once only) or call `close`. */
interface CsvFile {
  /** The names of the first row, trimmed. */
  readonly header: readonly string[]
  /** Rows in order, without rows whose cells are all blank, cells unescaped. Iterating throws VALIDATION_ERROR at the first row that is not CSV. */
  readonly rows: AsyncIterable<CsvRow>
  readonly close: () => void
}

/**
 * Reads CSV as a stream, in constant memory. Cells are separated by commas, semicolons or tabs; lines end in LF, CRLF or CR; quoted cells
 * may contain line breaks (docs/contract/records.md#files). A first line such as `sep=;` names the separator. Throws VALIDATION_ERROR when
 * the bytes are not text or have no header.
 */
export async function readCsv(chunks: AsyncIterable<Uint8Array>): Promise<CsvFile> {
  const text = decodeText(chunks)
  const { head, separator } = await readHead(text)
  const parser = startParser(head, text, separator)
  const records = parser.iterator() as AsyncIterator<readonly string[]>
  const first = await nextCells(records)
  if (first === undefined) throw problem('VALIDATION_ERROR', 'file must have a header row, got a blank file')
  return { header: first.map((name) => name.trim()), rows: readRows(records, first.length), close: () => parser.destroy() }
}

async function readHead(text: AsyncGenerator<string>): Promise<{ head: string; separator: string }> {
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
  const [line = '', named] = separatorLine.exec(head) ?? []
  return { head: head.slice(line.length), separator: named ?? scanner.separator() }
}

/** The line by which spreadsheets name the separator of a file. */
const separatorLine = /^[\r\n]*"?sep=([^"\r\n \w])"?[,;\t]*(?:\r\n|\r|\n|$)/i

const separators = [',', ';', '\t'] as const
type Separator = (typeof separators)[number]

const isSeparator = (character: string): character is Separator => (separators as readonly string[]).includes(character)

/**
 * Creates a scanner that finds the end of the header row and its separator in a text that arrives in pieces. The header row is the first
 * row that is not blank. A quote opens a quoted cell only at the start of the cell, as in data rows.
 */
function createHeaderScanner() {
  const counts = new Map<Separator, number>()
  let complete = false
  let blank = true
  let quoted = false
  let mayOpenQuote = true
  function step(character: string): void {
    const isBreak = character === '\n' || character === '\r'
    if (quoted) {
      quoted = character !== '"'
    } else if (isBreak) {
      complete = !blank
    } else {
      blank = false
      // The second of two quotes opens the cell again that the first one closed: `mayOpenQuote` stays true after a closing quote.
      quoted = character === '"' && mayOpenQuote
      if (isSeparator(character)) counts.set(character, (counts.get(character) ?? 0) + 1)
    }
    mayOpenQuote = quoted || blank || isSeparator(character) || (character === '"' && mayOpenQuote)
  }
  return {
    /** Reads the next piece. True once the header row is complete; later text is ignored. */
    read(piece: string): boolean {
      for (let index = 0; index < piece.length && !complete; index++) step(piece.charAt(index))
      return complete
    },
    /** The most frequent separator of the header row outside quotes; the comma when it has none. */
    separator: () => separators.reduce((best, one) => ((counts.get(one) ?? 0) > (counts.get(best) ?? 0) ? one : best)),
  }
}

function startParser(head: string, rest: AsyncGenerator<string>, delimiter: string): Parser {
  const parser = parse({
    delimiter,
    record_delimiter: ['\r\n', '\n', '\r'],
    skip_empty_lines: true,
    skip_records_with_empty_values: true,
    // `readRow` checks the number of cells; a stray quote is part of its cell.
    relax_column_count: true,
    relax_quotes: true,
    max_record_size: maxRowBytes,
  })
  // An error of the source or of the parser is thrown by the parser's iterator, so the callback ignores it.
  pipeline(Readable.from(concatenate(head, rest)), parser, () => {})
  return parser
}

async function* concatenate(head: string, rest: AsyncGenerator<string>): AsyncGenerator<string> {
  yield head
  yield* rest
}

async function* readRows(records: AsyncIterator<readonly string[]>, width: number): AsyncGenerator<CsvRow> {
  try {
    for (let row = 1; ; row++) {
      const cells = await nextCells(records)
      if (cells === undefined) return
      yield readRow(row, cells, width)
    }
  } finally {
    await records.return?.()
  }
}

/** A row may have fewer cells than the header. Surplus empty cells, which spreadsheets write, are dropped; others are an error. */
function readRow(row: number, cells: readonly string[], width: number): CsvRow {
  if (cells.slice(width).some((cell) => cell !== '')) return { row, error: `has ${cells.length} cells where the header has ${width}` }
  return { row, cells: cells.slice(0, width).map(unescapeCell) }
}

async function nextCells(records: AsyncIterator<readonly string[]>): Promise<readonly string[] | undefined> {
  try {
    const { value, done } = await records.next()
    return done ? undefined : value
  } catch (cause) {
    throw cause instanceof CsvError ? problem('VALIDATION_ERROR', `file: ${describeError(cause)}`, { cause }) : cause
  }
}

const messages: Readonly<Record<string, string>> = {
  CSV_QUOTE_NOT_CLOSED: 'has a quoted cell that is never closed',
  CSV_MAX_RECORD_SIZE: `is longer than ${maxRowBytes} bytes; is a quoted cell never closed?`,
}

/** `error.records` is the number of rows before the failed one, the header included: 0 for the header row, n for data row n. */
function describeError(error: CsvError): string {
  const row = Number(error.records) === 0 ? 'the header row' : `row ${error.records}`
  return `${row} ${messages[error.code] ?? error.message}`
}
