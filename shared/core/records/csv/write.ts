import { stringify } from 'csv-stringify/sync'
import { escapeCell } from '#shared/core/records/csv/escape-cell.ts'

/** Rows of cells as CSV text: commas, CRLF after every row, quotes where needed, every cell escaped against formulas. */
export const writeCsv = (rows: readonly (readonly string[])[]): string =>
  stringify(
    rows.map((cells) => cells.map(escapeCell)),
    // The default leaves a lone CR or LF, and outer blanks, which some readers trim, unquoted.
    { record_delimiter: '\r\n', quoted_match: /[\r\n]|^\s|\s$/ },
  )
