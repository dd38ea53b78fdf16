import { readDatabaseTime } from '#shared/platform/db/clock.ts'
import type { Executor } from '#shared/platform/db/database.ts'
import { bigint, instant, integer } from '#shared/platform/db/statements/sql-types.ts'
import { statement } from '#shared/platform/db/statements/statement.ts'
import type { MaintenanceTask } from '#shared/platform/kernel/maintenance-task.ts'
import { dayMs } from '#shared/platform/kernel/time/units.ts'

/** The services of a clean-up: the database and the clock. */
export interface CleanupServices {
  readonly db: Executor
  readonly now: () => Date
}

interface OldRows {
  readonly table: string
  /** The SQL condition of an old row, with `$before` for the time. */
  readonly old: string
  /** The indexed column that `old` compares: the oldest rows are deleted first. */
  readonly by: string
  /** Days that rows are kept, 0 by default: `$before` is the time now less these days. */
  readonly keptDays?: number
  readonly everyMinutes: number
  /** Set where rows age by the database's own time, whatever clock the process uses. */
  readonly byServerClock?: true
  /** Rows per statement; the default suits small rows. */
  readonly batch?: number
}

/**
 * Defines a maintenance task that deletes old rows. Each batch is its own transaction, so locks are short and progress survives a killed
 * process. `name` is also the name of its statement.
 */
export function defineCleanup(name: string, rows: OldRows): MaintenanceTask<CleanupServices> {
  const { table, old, by, keptDays = 0, everyMinutes, byServerClock, batch = 1_000 } = rows
  const deleteOldRows = statement(
    name,
    `delete from ${table}
     where ctid = any(array(select ctid from ${table} where ${old} order by ${by} limit $limit for update skip locked))
     returning 1 as gone`,
    { params: { before: instant, limit: bigint }, columns: { gone: integer.notNull } },
  )
  return {
    name,
    everySeconds: everyMinutes * 60,
    run: async ({ db, now }, signal) => {
      const time = byServerClock ? await readDatabaseTime(db) : now()
      const before = new Date(time.getTime() - keptDays * dayMs)
      for (let deleted = batch; deleted === batch; ) {
        signal.throwIfAborted()
        deleted = (await db.query(deleteOldRows({ before, limit: batch }))).length
      }
    },
  }
}
