import { setTimeout } from 'node:timers/promises'
import { isOutOfReach } from '#shared/db/conflicts.ts'

/** How often it is tried again while the database is away. */
const againMs = 200

/** Tries until the database can be asked, or the signal is aborted. `write` may be done more than once. */
export async function whenInReach<T>(signal: AbortSignal, write: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await write()
    } catch (error) {
      if (!isOutOfReach(error) || signal.aborted) throw error
      await setTimeout(againMs)
    }
  }
}
