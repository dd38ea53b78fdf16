/** Steps in a doubling: a time is known to a fifth at most, and percentiles between two bounds are interpolated. */
const stepsPerDoubling = 4

/** The last step, of all times from five days. */
const lastStep = 29 * stepsPerDoubling

/** The step of a time: step 0 is below 1 ms, and each of the others begins at `startOfStep`. */
export const stepOf = (ms: number): number => (ms < 1 ? 0 : Math.min(lastStep, 1 + Math.floor(Math.log2(ms) * stepsPerDoubling)))

/** The shortest time of a step, in milliseconds. */
const startOfStep = (step: number): number => (step === 0 ? 0 : 2 ** ((step - 1) / stepsPerDoubling))

/**
 * The time in milliseconds that this share of the counted times does not exceed, such as 0.95; null when none is counted. `counts` are the
 * numbers of times by step.
 */
export function percentileOf(counts: ReadonlyMap<number, number>, share: number): number | null {
  const total = counts.values().reduce((sum, count) => sum + count, 0)
  if (total === 0) return null
  let left = total * share
  for (const [step, count] of [...counts].sort(([a], [b]) => a - b)) {
    if (count >= left) {
      const start = startOfStep(step)
      return Math.round(start + (startOfStep(step + 1) - start) * (left / count))
    }
    left -= count
  }
  return null
}
