import { setTimeout } from 'node:timers/promises'
import { isDatabaseFull, isDatabaseUnavailable, isOverloaded } from '#shared/platform/db/database-errors.ts'

/** How often it is tried again while the database is away, full or overloaded. */
const againMs = 200

/** Tries until the database can be asked and has room, or the signal is aborted. `write` may be done more than once. */
export async function retryUntilAvailable<T>(signal: AbortSignal, write: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await write()
    } catch (error) {
      if (signal.aborted || !(isDatabaseUnavailable(error) || isDatabaseFull(error) || isOverloaded(error))) throw error
      await setTimeout(againMs)
    }
  }
}
