import { createSemaphore } from '#shared/platform/kernel/process/semaphore.ts'

/**
 * Creates locks by key within this process: work with the same key runs one at a time, in order of arrival; other keys run concurrently.
 * Unlike a database lock, waiting here holds no database connection.
 */
export function createKeyedLocks(): <T>(key: string, work: () => Promise<T>) => Promise<T> {
  const locks = new Map<string, { readonly run: ReturnType<typeof createSemaphore>; inside: number }>()
  return async (key, work) => {
    const lock = locks.get(key) ?? { run: createSemaphore(1), inside: 0 }
    locks.set(key, lock)
    lock.inside += 1
    try {
      return await lock.run(work)
    } finally {
      lock.inside -= 1
      if (lock.inside === 0) locks.delete(key)
    }
  }
}
