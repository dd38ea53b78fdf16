/** Three letters of a text as a trigram index keeps them, and the letters of the text that they come from. */
interface Trigram {
  readonly letters: string
  readonly from: number
  readonly to: number
}

/** What is known of the trigrams that values of a field have: those of many values, and those of fewer that are not rare either. */
export interface KnownTrigrams {
  readonly common: ReadonlySet<string>
  readonly frequent: ReadonlySet<string>
}

/** The trigrams of a whole value in small letters, each once: as PostgreSQL's pg_trgm keeps them, or near enough to count them by. */
export const extractTrigrams = (value: string): ReadonlySet<string> =>
  new Set(trigramsIn(Array.from(value), true).map(({ letters }) => letters))

/**
 * The parts of a text in small letters that a trigram index is best asked for: they stand in it in this order, do not overlap, and have no
 * common trigram. Null when nothing is known, or none of its trigrams is rare. Where common ones are left out two must be: the index would
 * find many records more by one.
 */
export function findRareParts(text: string, { common, frequent }: KnownTrigrams): readonly string[] | null {
  if (common.size + frequent.size === 0) return null
  const letters = Array.from(text)
  const parts: { readonly from: number; to: number }[] = []
  let lastCommon = -1
  let rare = 0
  for (const { letters: three, from, to } of trigramsIn(letters, false)) {
    const part = parts.at(-1)
    if (common.has(three)) {
      lastCommon = from
      continue
    }
    if (part && lastCommon < part.from) part.to = to
    else if (lastCommon < from && (!part || part.to <= from)) parts.push({ from, to })
    else continue
    if (!frequent.has(three)) rare++
  }
  const isWhole = lastCommon < 0
  if (rare < (isWhole ? 1 : 2)) return null
  return isWhole ? [text] : parts.map(({ from, to }) => letters.slice(from, to).join(''))
}

const isWordLetter = (letter: string | undefined): boolean => letter !== undefined && /[\p{L}\p{N}]/u.test(letter)

/** By where they end. A word that reaches an end of the letters ends there too only in a whole value: the text sought may go on. */
function trigramsIn(letters: readonly string[], isWholeValue: boolean): readonly Trigram[] {
  const found: Trigram[] = []
  for (let begin = 0; begin < letters.length; begin++) {
    let end = begin
    while (isWordLetter(letters[end])) end++
    if (end > begin) found.push(...trigramsOfWord(letters, begin, end, isWholeValue))
    begin = end
  }
  return found
}

/** pg_trgm puts two blanks before a word and one behind it; those stand for the letter next to it, which is none of a word. */
function trigramsOfWord(letters: readonly string[], begin: number, end: number, isWholeValue: boolean): Trigram[] {
  const before = begin > 0 || isWholeValue ? [' ', ' '] : []
  const after = end < letters.length || isWholeValue ? [' '] : []
  const word = [...before, ...letters.slice(begin, end), ...after]
  return Array.from({ length: Math.max(0, word.length - 2) }, (_, index) => {
    const from = begin - before.length + index
    return { letters: word.slice(index, index + 3).join(''), from: Math.max(from, begin - 1), to: from + 3 }
  })
}
