import type { GuidePage } from '#api/pages/guide/guide-pages.ts'

/** A section of the guide as the search reads it. */
interface Entry {
  /** Last segment of the page's address. */
  readonly page: string
  readonly pageTitle: string
  readonly slug: string
  readonly heading: string
  readonly text: string
  /** Words of the heading, of the text, and of both with the page's title, as `textOfWords` writes them. */
  readonly headingWords: string
  readonly ownWords: string
  readonly allWords: string
}
export type SearchIndex = readonly Entry[]

/** A section that was found; every second piece of its excerpt is a beginning of a word that was searched. */
export type Hit = Pick<Entry, 'page' | 'pageTitle' | 'slug' | 'heading'> & { readonly excerpt: readonly string[] }

/** Maximum sections of one search. */
export const maxHits = 50
/** Characters of an excerpt before the first searched word, and from it on. */
const before = 60
const after = 180

export const indexGuide = (pages: readonly GuidePage[]): SearchIndex =>
  pages.flatMap(({ name, title, sections }) =>
    sections.map(({ slug, heading, text }) => {
      const [headingWords, ownWords, allWords] = [heading, `${heading} ${text}`, `${title} ${heading} ${text}`].map(textOfWords)
      return { page: name, pageTitle: title, slug, heading, text, headingWords, ownWords, allWords } as Entry
    }),
  )

/**
 * Finds the sections in which every word of a query begins a word, in any case: of the heading, the text or the page's title, and not all
 * of the title alone. The best come first, at most 50: those with the most words in the heading, then the shortest of these headings, then
 * the most occurrences.
 */
export function searchGuide(index: SearchIndex, query: string): readonly Hit[] {
  const words = [...new Set(wordsOf(query))]
  if (words.length === 0) return []
  const anyWord = new RegExp(`(?<![\\p{L}\\p{N}])(${words.join('|')})`, 'giu')
  return index
    .filter(({ allWords, ownWords }) => words.every((word) => begins(allWords, word)) && words.some((word) => begins(ownWords, word)))
    .map((entry) => ({
      ...entry,
      inHeading: words.filter((word) => begins(entry.headingWords, word)).length,
      inText: [...entry.text.matchAll(anyWord)].length,
    }))
    .sort((a, b) => b.inHeading - a.inHeading || (a.inHeading && a.heading.length - b.heading.length) || b.inText - a.inText)
    .slice(0, maxHits)
    .map(({ page, pageTitle, slug, heading, text }) => ({ page, pageTitle, slug, heading, excerpt: excerptOf(text, anyWord) }))
}

const wordsOf = (text: string): readonly string[] => text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []

/** The words of a text in lower case, each after a blank. */
const textOfWords = (text: string): string => ` ${wordsOf(text).join(' ')}`

const begins = (words: string, word: string): boolean => words.includes(` ${word}`)

/** The text around the first searched word, cut between words. */
function excerptOf(text: string, anyWord: RegExp): readonly string[] {
  const first = Math.max(0, text.search(anyWord))
  const start = first <= before ? 0 : text.indexOf(' ', first - before) + 1
  const end = text.length <= first + after ? text.length : text.lastIndexOf(' ', first + after)
  return `${start > 0 ? '… ' : ''}${text.slice(start, end)}${end < text.length ? ' …' : ''}`.split(anyWord)
}
