// pg_trgm finds a text by three consecutive letters or digits. A text without them is found by its pairs of adjacent characters of any
// kind, or by its only character.

/** Whether a trigram index can find a text. */
export const hasTrigram = (text: string): boolean => /[\p{L}\p{N}]{3}/u.test(text)

/** Separates pairs in `letter_pairs`; pairs that contain it are not indexed. */
const divider = '\u0001'

/**
 * SQL of the value by which a text is indexed: its characters and pairs (migrations/0001-platform.ts). It contains the `letterPairs` of every substring
 * of the text.
 */
export const letterPairsSql = (text: string): string => `letter_pairs(${text})`

/** The index keys to search a text by: its pairs of adjacent characters, or its only character. */
export function letterPairs(text: string): string[] {
  const letters = Array.from(text)
  const pairs = letters.length === 1 ? letters : letters.slice(1).map((letter, index) => `${letters[index]}${letter}`)
  return pairs.filter((pair) => !pair.includes(divider))
}
