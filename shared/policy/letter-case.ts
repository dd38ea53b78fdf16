import { builder, type Knex } from '#shared/db/builder.ts'

// Node 24 knows Unicode 17, PostgreSQL 18 knows 16: these 28 capitals have a small letter in Node alone. Measured over all code points.
const onlyInNode = '\u{A7CE}\u{A7D2}\u{A7D4}\u{16EA0}-\u{16EB8}'
const special = new RegExp(`[İΣ${onlyInNode}]`, 'u')
const kept = new RegExp(`[${onlyInNode}]`, 'u')

/**
 * Small letters as `lower(… collate "pg_c_utf8")` of PostgreSQL makes them: each code point by itself and one for one. So `İ` becomes `i`
 * and every `Σ` becomes `σ`, where JavaScript's own toLowerCase adds a dot above and knows a final sigma.
 */
export function lowerCase(text: string): string {
  if (!special.test(text)) return text.toLowerCase()
  return Array.from(text, lowerLetter).join('')
}

const lowerLetter = (letter: string): string =>
  kept.test(letter) ? letter : String.fromCodePoint(letter.toLowerCase().codePointAt(0) ?? 0)

/** The SQL twin of `lowerCase`, of SQL text. The collation is named, so that the database's own locale does not matter. */
export const lowerCaseSql = (text: string): string => `lower(${text} collate "pg_c_utf8")`

/** The same of built SQL. */
export const lowerCaseOf = (text: Knex.Raw): Knex.Raw => builder.raw(lowerCaseSql('?'), [text])
