/** A piece of a pattern between two `*`: each item is a code unit to find, or null for `?`. */
type Segment = readonly (string | null)[]

/** Whether SEARCH has to read a text as a pattern: it holds `?`, `*` or `~`. */
export const isPattern = (text: string): boolean => /[?*~]/.test(text)

/**
 * Where in a text a pattern is found first, or -1. `?` is any one character, `*` any number of them, `~` takes the next character as it
 * is. A later start never helps a `*`, so the time is at most the length of the text times that of the pattern.
 */
export function findPattern(text: string, pattern: string, from: number): number {
  const [first = [], ...others] = segments(pattern)
  const start = findSegment(text, first, from)
  if (start < 0) return -1
  let at = start + first.length
  for (const segment of others) {
    const found = findSegment(text, segment, at)
    if (found < 0) return -1
    at = found + segment.length
  }
  return start
}

function segments(pattern: string): Segment[] {
  const found: (string | null)[][] = [[]]
  for (let index = 0; index < pattern.length; index += 1) {
    const unit = pattern[index]!
    if (unit === '*') found.push([])
    else if (unit === '~' && index + 1 < pattern.length) found.at(-1)!.push(pattern[++index]!)
    else found.at(-1)!.push(unit === '?' ? null : unit)
  }
  return found
}

function findSegment(text: string, segment: Segment, from: number): number {
  for (let start = from; start + segment.length <= text.length; start += 1) {
    if (segment.every((unit, index) => unit === null || unit === text[start + index])) return start
  }
  return -1
}
