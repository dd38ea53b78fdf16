/** Part of a pattern between two `*`: each item is a code unit to match, or null for `?`. */
type Segment = readonly (string | null)[]

/** Whether SEARCH treats a text as a pattern: it contains `?`, `*` or `~`. */
export const isPattern = (text: string): boolean => /[?*~]/.test(text)

/**
 * Offset in code units of the first match of a pattern, or -1. `?` matches one character, `*` any number, `~` escapes the next character.
 * No backtracking over `*` is needed, so the time is at most the length of the text times the length of the pattern.
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
