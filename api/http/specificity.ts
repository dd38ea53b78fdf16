/**
 * Sorts paths so that the more literal of two matching ones comes first: segment by segment, a literal before a parameter, and a
 * parameter before a wildcard. Equal ones keep their order.
 */
export const sortBySpecificity = <T>(items: readonly T[], pathOf: (item: T) => string): T[] =>
  items
    .map((item) => ({ item, ranks: ranksOf(pathOf(item)) }))
    .sort((a, b) => compare(a.ranks, b.ranks))
    .map(({ item }) => item)

const [literal, parameter, end, rest] = [0, 1, 2, 3]

const ranksOf = (path: string): number[] =>
  path
    .replace(/^\//, '')
    .replaceAll('{/', '/{')
    .split('/')
    .map((segment) => (segment.includes('*') ? rest : segment.includes(':') ? parameter : literal))

function compare(a: readonly number[], b: readonly number[]): number {
  for (let index = 0; index < Math.max(a.length, b.length); index++) {
    const difference = (a[index] ?? end) - (b[index] ?? end)
    if (difference !== 0) return difference
  }
  return 0
}
