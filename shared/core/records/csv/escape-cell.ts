const trigger = /^[=+\-@\t\r]/
const plainNumber = /^[+-](?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?$/
const phoneCharacters = /^\+[\d(][\d ().\-/]*$/

/** A phone number as people write it: a plus, then 5 to 15 digits (E.164 allows 15) with blanks, brackets, dots, dashes or slashes. */
function isPhoneNumber(text: string): boolean {
  if (!phoneCharacters.test(text)) return false
  const digits = text.replace(/\D/g, '').length
  return digits >= 5 && digits <= 15
}

/** Whether a spreadsheet could take the cell for a formula, apostrophes in front of it aside. */
function isRisky(cell: string): boolean {
  const rest = cell.replace(/^'+/, '')
  return trigger.test(rest) && !plainNumber.test(rest) && !isPhoneNumber(rest)
}

/**
 * Puts an apostrophe in front of a cell that a spreadsheet could read as a formula. A cell counts by what follows its leading
 * apostrophes, so that `unguardCell` knows its own work and any text survives both (decisions, Export).
 */
export const escapeCell = (cell: string): string => (isRisky(cell) ? `'${cell}` : cell)

/** Takes the apostrophe of `guardCell` off again; any other cell is returned as it is. */
export const unescapeCell = (cell: string): string => (cell.startsWith("'") && isRisky(cell) ? cell.slice(1) : cell)
