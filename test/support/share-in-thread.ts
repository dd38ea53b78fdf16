import { randomUUID } from 'node:crypto'
import type { TestFn } from 'ava'

/** An open resource, and the function that closes it. */
export interface Opened<T> {
  readonly value: T
  readonly close: () => unknown
}

/** The shared resources of this thread, by key. */
const shared = new Map<string, { opened?: Promise<Opened<unknown>> }>()

/**
 * Opens a resource at its first use and closes it after the last test of the thread. Files with the same key share it; without a key it
 * belongs to one file.
 */
export function shareInThread<T>(test: TestFn, open: () => Promise<Opened<T>>, key: string = randomUUID()): () => Promise<T> {
  const entry = shared.get(key) ?? {}
  if (!shared.has(key)) {
    shared.set(key, entry)
    test.after.always(`closing ${key}`, async () => void (await (await entry.opened)?.close()))
  }
  return async () => {
    entry.opened ??= open()
    return (await entry.opened).value as T
  }
}
