const formulaStart = /^[=+\-@\t\r]/
const plainNumber = /^[+-](?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?$/
const phoneCharacters = /^\+[\d(][\d ().\-/]*$/

/** Whether text is a phone number: a plus, then 5 to 15 digits (E.164 allows 15) with blanks, brackets, dots, dashes or slashes. */
function isPhoneNumber(text: string): boolean {
  if (!phoneCharacters.test(text)) return false
  const digits = text.replace(/\D/g, '').length
  return digits >= 5 && digits <= 15
}

/** Whether a spreadsheet could read the cell as a formula. Leading apostrophes are ignored. */
function isRisky(cell: string): boolean {
  const rest = cell.replace(/^'+/, '')
  return formulaStart.test(rest) && !plainNumber.test(rest) && !isPhoneNumber(rest)
}

/**
 * Prefixes an apostrophe to a cell that a spreadsheet could read as a formula. Only the text after leading apostrophes decides, so
 * `unescapeCell` reverses it exactly and any text survives both (decisions, Export).
 */
export const escapeCell = (cell: string): string => (isRisky(cell) ? `'${cell}` : cell)

/** Removes the apostrophe of `escapeCell`; returns any other cell unchanged. */
export const unescapeCell = (cell: string): string => (cell.startsWith("'") && isRisky(cell) ? cell.slice(1) : cell)
