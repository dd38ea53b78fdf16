/** Runs work when a slot is free, and returns its result. */
type RunInSlot = <T>(work: () => Promise<T>) => Promise<T>

/** Creates a semaphore of this process: at most `slots` pieces of work run at once; the others wait in order of arrival. */
export function createSemaphore(slots: number): RunInSlot {
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

/**
 * Creates locks by key in this process: work with the same key runs one at a time, in order of arrival. Unlike waiting for a database lock,
 * waiting here holds no database connection.
 */
export function createKeyedLocks(): <T>(key: string, work: () => Promise<T>) => Promise<T> {
  const locks = new Map<string, { readonly run: RunInSlot; users: number }>()
  return async (key, work) => {
    const lock = locks.get(key) ?? { run: createSemaphore(1), users: 0 }
    locks.set(key, lock)
    lock.users += 1
    try {
      return await lock.run(work)
    } finally {
      lock.users -= 1
      if (lock.users === 0) locks.delete(key)
    }
  }
}
