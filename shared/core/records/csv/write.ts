import { stringify } from 'csv-stringify/sync'

/**
 * Rows of cells as CSV text: commas, CRLF after every row, quotes where needed. Every cell is escaped against formulas, except in the
 * columns at the positions `plain`.
 */
export const writeCsv = (rows: readonly (readonly string[])[], plain: ReadonlySet<number> = noColumns): string =>
  stringify(
    rows.map((cells) => cells.map((cell, index) => (plain.has(index) ? cell : escapeCell(cell)))),
    // By default, cells with a lone CR or LF and cells with outer blanks are not quoted; some readers trim such blanks.
    { record_delimiter: '\r\n', quoted_match: /[\r\n]|^\s|\s$/ },
  )

const noColumns: ReadonlySet<number> = new Set()

/**
 * Prefixes an apostrophe to a cell that a spreadsheet could read as a formula. Leading apostrophes are ignored in this decision, so
 * `unescapeCell` restores every cell exactly (docs/contract/records.md#guarded-cells).
 */
export const escapeCell = (cell: string): string => (couldBeFormula(cell) ? `'${cell}` : cell)

/** Removes the apostrophe of `escapeCell`; returns any other cell unchanged. */
export const unescapeCell = (cell: string): string => (cell.startsWith("'") && couldBeFormula(cell) ? cell.slice(1) : cell)

/** A sign in its usual or its full-width form, first or after white space (which includes no-break spaces). */
const formulaStart = /^(?:[\t\r]|\s*[=+\-@\uff1d\uff0b\uff0d\uff20])/
const plainNumber = /^[+-](?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?$/

/** Whether a spreadsheet could read the cell as a formula. Leading apostrophes are ignored. */
function couldBeFormula(cell: string): boolean {
  const rest = cell.replace(/^'+/, '')
  return formulaStart.test(rest) && !plainNumber.test(rest) && !isPhoneNumber(rest)
}

const phoneCharacters = /^\+[\d(][\d ().\-/]*$/

/** Whether text is a phone number: a plus, then 5 to 15 digits (E.164 allows 15) with blanks, brackets, dots, dashes or slashes. */
function isPhoneNumber(text: string): boolean {
  if (!phoneCharacters.test(text)) return false
  const digits = text.replace(/\D/g, '').length
  return digits >= 5 && digits <= 15
}
