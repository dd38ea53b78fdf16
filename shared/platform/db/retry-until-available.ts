import { setTimeout } from 'node:timers/promises'
import { isDatabaseUnusable } from '#shared/platform/db/database-errors.ts'

/** The retry interval while the database is unreachable, full or overloaded. */
const retryMs = 200

/** Retries `write` while the database is unreachable, full or overloaded, until the signal aborts. `write` may run more than once. */
export async function retryUntilAvailable<T>(signal: AbortSignal, write: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await write()
    } catch (error) {
      if (signal.aborted || !isDatabaseUnusable(error)) throw error
      await setTimeout(retryMs)
    }
  }
}
