import type { TestFn } from 'ava'

/** Something that is open, and what closes it. */
export interface Opened<T> {
  readonly value: T
  readonly close: () => Promise<unknown>
}

/** What is shared in this thread, by its key, and how many files have yet to let go of it. */
const shared = new Map<string, { users: number; opened?: Promise<Opened<unknown>> }>()

/**
 * One of these for all tests of a file, and of the other files of its thread that name the same key: opened when it is first asked for,
 * closed when the last of the files is done.
 */
export function shareInThread<T>(test: TestFn, key: string, open: () => Promise<Opened<T>>): () => Promise<T> {
  const entry = shared.get(key) ?? { users: 0 }
  shared.set(key, entry)
  entry.users += 1
  test.after.always(async () => {
    entry.users -= 1
    if (entry.users > 0) return
    shared.delete(key)
    await (await entry.opened)?.close()
  })
  return async () => {
    entry.opened ??= open()
    return (await entry.opened).value as T
  }
}
