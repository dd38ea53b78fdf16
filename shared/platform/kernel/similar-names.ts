/** Returns the name with the smallest edit distance to `name`, the first of several; undefined for an empty list. */
export function findNearestName(name: string, names: readonly string[]): string | undefined {
  let best: string | undefined
  let least = Number.POSITIVE_INFINITY
  for (const known of names) {
    const distance = distanceOf(normalize(name), normalize(known))
    if (distance >= least) continue
    best = known
    least = distance
  }
  return best
}

/** Whether one name is likely a misspelling of the other. */
export const isSimilarName = (name: string, other: string): boolean => distanceOf(normalize(name), normalize(other)) <= other.length / 2

/** Insertions, deletions, replacements and swaps of neighbours that turn one text into the other (optimal string alignment). */
export function editDistance(one: string, other: string): number {
  let before: number[] = []
  let row = Array.from({ length: other.length + 1 }, (_, index) => index)
  for (let i = 1; i <= one.length; i++) {
    const next = [i]
    for (let j = 1; j <= other.length; j++) {
      const cost = one[i - 1] === other[j - 1] ? 0 : 1
      const isSwapped = i > 1 && j > 1 && one[i - 1] === other[j - 2] && one[i - 2] === other[j - 1]
      next.push(
        Math.min(
          (row[j] ?? 0) + 1,
          (next[j - 1] ?? 0) + 1,
          (row[j - 1] ?? 0) + cost,
          isSwapped ? (before[j - 2] ?? 0) + 1 : Number.POSITIVE_INFINITY,
        ),
      )
    }
    before = row
    row = next
  }
  return row[other.length] ?? 0
}

/** Maximum number of compared characters: the work grows with their square. */
const maxComparedLength = 60

const normalize = (name: string): string => name.slice(0, maxComparedLength).toLowerCase().replace(/[_-]/g, '')

/** Edit distance of two names. If one contains the other, the distance is half the number of remaining letters. */
function distanceOf(one: string, other: string): number {
  if (one.length > 2 && other.length > 2 && (one.includes(other) || other.includes(one))) return Math.abs(one.length - other.length) / 2
  return editDistance(one, other)
}
