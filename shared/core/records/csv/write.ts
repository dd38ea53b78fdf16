import { stringify } from 'csv-stringify/sync'

/** Rows of cells as CSV text: commas, CRLF after every row, quotes where needed, every cell escaped against formulas. */
export const writeCsv = (rows: readonly (readonly string[])[]): string =>
  stringify(
    rows.map((cells) => cells.map(escapeCell)),
    // By default, cells with a lone CR or LF and cells with outer blanks are not quoted; some readers trim such blanks.
    { record_delimiter: '\r\n', quoted_match: /[\r\n]|^\s|\s$/ },
  )

/**
 * Prefixes an apostrophe to a cell that a spreadsheet could read as a formula. Leading apostrophes are ignored in this decision, so
 * `unescapeCell` restores every cell exactly (decisions, Export).
 */
export const escapeCell = (cell: string): string => (couldBeFormula(cell) ? `'${cell}` : cell)

/** Removes the apostrophe of `escapeCell`; returns any other cell unchanged. */
export const unescapeCell = (cell: string): string => (cell.startsWith("'") && couldBeFormula(cell) ? cell.slice(1) : cell)

const formulaStart = /^[=+\-@\t\r]/
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
