/**
 * Runs at most `slots` pieces of work at once in this process; the others wait for their turn, first come, first served. Each call gives
 * what its work gives.
 */
export function createSemaphore(slots: number): <T>(work: () => Promise<T>) => Promise<T> {
  const waiting: (() => void)[] = []
  let free = slots
  return async (work) => {
    if (free > 0) free -= 1
    else await new Promise<void>((resolve) => waiting.push(resolve))
    try {
      return await work()
    } finally {
      const next = waiting.shift()
      if (next) next()
      else free += 1
    }
  }
}
