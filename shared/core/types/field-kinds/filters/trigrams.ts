/** Three letters as a trigram index stores them, and their range in the text. */
interface Trigram {
  readonly letters: string
  readonly from: number
  readonly to: number
}

/**
 * Trigram statistics of a field's values: common trigrams occur in many values, frequent ones in fewer (shares: `thresholds.trigrams`). All
 * others are rare.
 */
export interface KnownTrigrams {
  readonly common: ReadonlySet<string>
  readonly frequent: ReadonlySet<string>
}

/** The distinct trigrams of a whole lowercase value, close enough to PostgreSQL's pg_trgm for counting. */
export const extractTrigrams = (value: string): ReadonlySet<string> =>
  new Set(trigramsIn(Array.from(value), true).map(({ letters }) => letters))

/**
 * The parts of a lowercase text for which a trigram index is queried, in text order: they do not overlap and contain no common trigram.
 * Null (the index is then queried for the whole text) without statistics or without a rare trigram. When common trigrams are left out, two
 * rare ones are required: with only one, the index would return many more records than match.
 */
export function findRareParts(text: string, { common, frequent }: KnownTrigrams): readonly string[] | null {
  if (common.size + frequent.size === 0) return null
  const letters = Array.from(text)
  const parts: { readonly from: number; to: number }[] = []
  let lastCommon = -1
  let rare = 0
  for (const { letters: trigram, from, to } of trigramsIn(letters, false)) {
    const part = parts.at(-1)
    if (common.has(trigram)) {
      lastCommon = from
      continue
    }
    if (part && lastCommon < part.from) part.to = to
    else if (lastCommon < from && (!part || part.to <= from)) parts.push({ from, to })
    else continue
    if (!frequent.has(trigram)) rare++
  }
  const isWhole = lastCommon < 0
  if (rare < (isWhole ? 1 : 2)) return null
  return isWhole ? [text] : parts.map(({ from, to }) => letters.slice(from, to).join(''))
}

const isWordLetter = (letter: string | undefined): boolean => letter !== undefined && /[\p{L}\p{N}]/u.test(letter)

/**
 * The trigrams of these letters, ordered by their end. A word at either end of the letters counts as complete only in a whole value: a
 * searched text may begin or end within a word.
 */
function trigramsIn(letters: readonly string[], isWholeValue: boolean): readonly Trigram[] {
  const found: Trigram[] = []
  for (let start = 0; start < letters.length; start++) {
    let end = start
    while (isWordLetter(letters[end])) end++
    if (end > start) for (const trigram of trigramsOfWord(letters, start, end, isWholeValue)) found.push(trigram)
    start = end
  }
  return found
}

/** pg_trgm pads a word with two blanks before and one after. In the range of a trigram, a blank stands for the adjacent non-word letter. */
function trigramsOfWord(letters: readonly string[], start: number, end: number, isWholeValue: boolean): Trigram[] {
  const before = start > 0 || isWholeValue ? [' ', ' '] : []
  const after = end < letters.length || isWholeValue ? [' '] : []
  const word = [...before, ...letters.slice(start, end), ...after]
  return Array.from({ length: Math.max(0, word.length - 2) }, (_, index) => {
    const from = start - before.length + index
    return { letters: word.slice(index, index + 3).join(''), from: Math.max(from, start - 1), to: from + 3 }
  })
}
