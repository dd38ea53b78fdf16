import type { SqlText } from '#shared/platform/db/statements/sql-text.ts'

// Node 24 has Unicode 17, PostgreSQL 18 has 16: only Node has lower-case letters for these 28 capitals. Measured over all code points.
const nodeOnlyCapitals = '\u{A7CE}\u{A7D2}\u{A7D4}\u{16EA0}-\u{16EB8}'
const differingLetters = new RegExp(`[İΣ${nodeOnlyCapitals}]`, 'u')
const unchangedLetters = new RegExp(`[${nodeOnlyCapitals}]`, 'u')

/**
 * Lower case as PostgreSQL's `lower(… collate "pg_c_utf8")` returns it: each code point maps to exactly one. So `İ` becomes `i` and every
 * `Σ` becomes `σ`; JavaScript's toLowerCase adds a dot above and uses the final sigma.
 */
export function lowerCase(text: string): string {
  if (!differingLetters.test(text)) return text.toLowerCase()
  return Array.from(text, lowerLetter).join('')
}

const lowerLetter = (letter: string): string =>
  unchangedLetters.test(letter) ? letter : String.fromCodePoint(letter.toLowerCase().codePointAt(0) ?? 0)

/** SQL equivalent of `lowerCase` for an SQL expression. The explicit collation makes it independent of the database's locale. */
export const lowerCaseSql = (text: string): string => `lower(${text} collate "pg_c_utf8")`

/** SQL equivalent of `lowerCase` for a part of a statement. */
export const lowerCaseOf = ({ text, values }: SqlText): SqlText => ({ text: lowerCaseSql(text), values })
