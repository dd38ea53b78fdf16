import { runnerLimits } from '#workers/features/functions/sandbox/limits.ts'

/**
 * Limits work that a run can make long on the worker's own thread, such as parsing JSON that the run sends. One piece is worked on at a
 * time, the owners in rotation, and after each piece follows a pause in proportion to its duration.
 */
export interface HeavyWorkQueue {
  /** Executes work on `characters` of text: at once up to `inlineCharacters`, otherwise in its turn. */
  readonly enqueue: <Result>(owner: string, characters: number, work: () => Result) => Promise<Result>
}

/** Creates the heavy work queue of a process. */
export function createHeavyWorkQueue(): HeavyWorkQueue {
  /** Waiting pieces by owner; the next owner first. */
  const waiting = new Map<string, (() => void)[]>()
  let isOccupied = false

  const startNext = (): void => {
    const [first] = waiting
    if (isOccupied || !first) return
    const [owner, [piece, ...others]] = first
    waiting.delete(owner)
    if (others.length > 0) waiting.set(owner, others)
    isOccupied = true
    const started = performance.now()
    piece?.()
    setTimeout(
      () => {
        isOccupied = false
        startNext()
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
        waiting.set(owner, [...(waiting.get(owner) ?? []), piece])
        startNext()
      })
    },
  }
}
