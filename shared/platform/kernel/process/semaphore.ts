import { problem } from '#shared/platform/kernel/errors.ts'

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

interface QueueBounds {
  readonly slots: number
  readonly maxWaiting: number
  readonly maxWaitMs: number
  /** What is waited for, as the beginning of the message: `Sign-in is busy`. */
  readonly busy: string
}

/**
 * Creates a semaphore whose queue ends. Work throws OVERLOADED, without having begun, when `maxWaiting` others wait already, or when no slot
 * was free for `maxWaitMs`.
 */
export function createBoundedQueue({ slots, maxWaiting, maxWaitMs, busy }: QueueBounds): RunInSlot {
  const waiting = new Set<() => void>()
  let free = slots
  const overloaded = () => problem('OVERLOADED', `${busy}; try again soon`, { expected: true })
  const wait = () =>
    new Promise<void>((resolve, reject) => {
      if (waiting.size >= maxWaiting) return reject(overloaded())
      const enter = () => {
        clearTimeout(limit)
        waiting.delete(enter)
        resolve()
      }
      const limit = setTimeout(() => {
        waiting.delete(enter)
        reject(overloaded())
      }, maxWaitMs)
      waiting.add(enter)
    })
  return async (work) => {
    if (free > 0) free -= 1
    else await wait()
    try {
      return await work()
    } finally {
      const [next] = waiting
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
