import { addUses } from '#shared/core/types/indexes/use-store.ts'
import type { Executor } from '#shared/platform/db/database.ts'
import type { Logger } from '#shared/platform/kernel/log.ts'
import { BufferedCounter } from '#shared/platform/kernel/process/buffered-counter.ts'

/** Interval at which a process writes its counts. */
const flushIntervalMs = 5_000

/** Creates the process's counter of field uses, written by one statement per interval. Counts that cannot be written are lost. */
export const createUseCounter = (db: Executor, now: () => Date, log: Logger): BufferedCounter =>
  new BufferedCounter(flushIntervalMs, async (counts) => {
    try {
      await addUses(db, counts, now())
    } catch (error) {
      log.warn({ err: error }, 'could not note how often fields are used')
    }
  })
