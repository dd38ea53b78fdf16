import { runnerLimits } from '#workers/features/functions/sandbox/limits.ts'

/**
 * Takes what keeps the worker's own thread busy for as long as a run likes, such as parsing what it sends, out of the way of other runs:
 * one piece at a time, the owners in turn, and after each piece a rest of some times its length.
 */
export interface HeavyWorkQueue {
  /** Does a piece of work on so many characters of its owner's: at once when they are few, else when its turn has come. */
  readonly enqueue: <Result>(owner: string, characters: number, work: () => Result) => Promise<Result>
}

/** A queue of heavy work for one process. */
export function createHeavyWorkQueue(): HeavyWorkQueue {
  /** Those who wait, in the order of their turns, each with its pieces. */
  const lines = new Map<string, (() => void)[]>()
  let isOccupied = false

  const next = (): void => {
    const [first] = lines
    if (isOccupied || !first) return
    const [owner, [piece, ...others]] = first
    lines.delete(owner)
    if (others.length > 0) lines.set(owner, others)
    isOccupied = true
    const started = performance.now()
    piece?.()
    setTimeout(
      () => {
        isOccupied = false
        next()
      },
      runnerLimits.pauseFactor * (performance.now() - started),
    )
  }

  return {
    enqueue: async (owner, characters, work) => {
      if (characters <= runnerLimits.inlineCharacters) return work()
      return new Promise((resolve, reject) => {
        const piece = (): void => {
          try {
            resolve(work())
          } catch (error) {
            reject(error)
          }
        }
        lines.set(owner, [...(lines.get(owner) ?? []), piece])
        next()
      })
    },
  }
}
