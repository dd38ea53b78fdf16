// pg_trgm finds a text by three letters or digits in a row. What has none is found by single letters and by pairs of neighbours, of any kind.

/** Whether a trigram index can find a text. */
export const hasTrigram = (text: string): boolean => /[\p{L}\p{N}]{3}/u.test(text)

/** What stands between two pairs in `letter_pairs`; pairs that have it themselves are not kept. */
const divider = '\u0001'

/** SQL of what an index keeps of a text: its letters and pairs (migration 0042), each of which `letterPairs` of any part of it is among. */
export const letterPairsSql = (text: string): string => `letter_pairs(${text})`

/** What the index is asked for to find a text: its pairs of neighbours, or its only letter. */
export function letterPairs(text: string): string[] {
  const letters = Array.from(text)
  const pairs = letters.length === 1 ? letters : letters.slice(1).map((letter, index) => `${letters[index]}${letter}`)
  return pairs.filter((pair) => !pair.includes(divider))
}
