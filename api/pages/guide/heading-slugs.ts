/**
 * The slugs of a page's headings by GitHub's rule, from the Markdown of each heading in the order of the page: lower case, spaces as hyphens,
 * without punctuation. The second of two equal headings gets a number.
 */
export function headingSlugs(headings: readonly string[]): string[] {
  const counts = new Map<string, number>()
  return headings.map((heading) => {
    const words = heading.replace(/\[([^\]]*)\]\([^)]*\)/g, '$1').toLowerCase()
    const slug = words.replace(/[^\p{L}\p{M}\p{N}\p{Pc} -]/gu, '').replaceAll(' ', '-')
    const count = counts.get(slug) ?? 0
    counts.set(slug, count + 1)
    return count === 0 ? slug : `${slug}-${count}`
  })
}
