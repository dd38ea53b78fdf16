import type { Executor } from '#shared/db/database.ts'
import type { Logger } from '#shared/kernel/log.ts'
import { Tally } from '#shared/kernel/tally.ts'
import { addUses } from '#shared/types/indexes/use-store.ts'

/** How long uses are gathered in a process. */
const gatherMs = 5_000

/** The tally of uses that each process keeps, written by one statement; counts that cannot be written are lost. */
export const countUses = (db: Executor, now: () => Date, log: Logger): Tally =>
  new Tally(gatherMs, async (counts) => {
    try {
      await addUses(db, counts, now())
    } catch (error) {
      log.warn({ err: error }, 'could not note how often fields are used')
    }
  })
