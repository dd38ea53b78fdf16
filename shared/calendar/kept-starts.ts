/**
 * Starts of rules by spans of so many milliseconds, as they were asked for lately. The library takes some 50 µs for each start, and whoever
 * looks at a month, or books from a page, asks for the same ones again (measured: of a month of 2,000 events and 50 series half the time).
 */
export const spanMs = 64 * 86_400_000

const kept = new Map<string, readonly number[]>()
/** Starts that are kept of all rules; some megabytes. */
const mostKept = 500_000
let starts = 0

/**
 * The starts of a rule within some spans of time, in their order, until there are so many; those of a span that nobody has asked for lately
 * are made. One that `make` gives up is taken for empty, and what comes after it is left for the next question.
 */
export function startsBySpans(
  key: string,
  from: number,
  to: number,
  atLeast: number,
  make: (from: number, to: number) => readonly number[] | undefined,
): number[] {
  const found: number[] = []
  for (let span = Math.floor(from / spanMs); span * spanMs < to && found.length < atLeast; span++) {
    const name = `${key} ${span}`
    const known = kept.get(name)
    const all = known ?? make(span * spanMs, (span + 1) * spanMs)
    if (!known) keep(name, all ?? [])
    if (!all) break
    for (const start of all) if (start >= from && start < to) found.push(start)
  }
  return found
}

function keep(name: string, made: readonly number[]): void {
  starts += made.length + 1
  if (starts > mostKept) {
    kept.clear()
    starts = made.length + 1
  }
  kept.set(name, made)
}
