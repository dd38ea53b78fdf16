import { stringify } from 'csv-stringify/sync'
import { escapeCell } from '#shared/core/records/csv/escape-cell.ts'

/** Rows of cells as CSV text: commas, CRLF after every row, quotes where a cell needs them, and the guard on every cell. */
export const writeCsv = (rows: readonly (readonly string[])[]): string =>
  stringify(
    rows.map((cells) => cells.map(escapeCell)),
    // By itself it would leave a lone CR or LF, and blanks that some readers trim, without quotes.
    { record_delimiter: '\r\n', quoted_match: /[\r\n]|^\s|\s$/ },
  )
