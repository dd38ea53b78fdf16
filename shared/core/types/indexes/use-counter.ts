import { addUses } from '#shared/core/types/indexes/use-store.ts'
import type { Executor } from '#shared/platform/db/database.ts'
import type { Logger } from '#shared/platform/kernel/log.ts'
import { BufferedCounter } from '#shared/platform/kernel/process/buffered-counter.ts'

/** How long uses are gathered in a process. */
const gatherMs = 5_000

/** The tally of uses that each process keeps, written by one statement; counts that cannot be written are lost. */
export const createUseCounter = (db: Executor, now: () => Date, log: Logger): BufferedCounter =>
  new BufferedCounter(gatherMs, async (counts) => {
    try {
      await addUses(db, counts, now())
    } catch (error) {
      log.warn({ err: error }, 'could not note how often fields are used')
    }
  })
