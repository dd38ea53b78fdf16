import { readDatabaseTime } from '#shared/platform/db/clock.ts'
import type { Executor } from '#shared/platform/db/database.ts'
import { sql } from '#shared/platform/db/statements/statement.ts'
import type { MaintenanceTask } from '#shared/platform/kernel/maintenance-task.ts'

/** What removing old rows needs: the database, and the clock that it goes by. */
export interface CleanupServices {
  readonly db: Executor
  readonly now: () => Date
}

interface OldRows {
  readonly table: string
  /** What makes a row old, with $1 for the time. */
  readonly old: string
  /** The column that `old` compares: the oldest go first, by its index. */
  readonly by: string
  /** How long rows are kept past that, in days. */
  readonly keptDays?: number
  readonly everyMinutes: number
  /** Set where rows count in the database's own time, whatever clock a process goes by. */
  readonly byServerClock?: true
  /** Rows that one statement deletes; the default suits small rows. */
  readonly batch?: number
}

const dayMs = 86_400_000

/**
 * A clean-up: deletes rows past their time, in batches that are transactions of their own, so that nobody waits long for what it locks and
 * none of it is lost when its process dies. `name` is also that of its statement.
 */
export function defineCleanup(name: string, rows: OldRows): MaintenanceTask<CleanupServices> {
  const { table, old, by, keptDays = 0, everyMinutes, byServerClock, batch = 1_000 } = rows
  const remove = sql(
    name,
    `delete from ${table} where ctid = any(array(select ctid from ${table} where ${old} order by ${by} limit $2 for update skip locked))
     returning 1 as gone`,
  )
  return {
    name,
    everySeconds: everyMinutes * 60,
    run: async ({ db, now }, signal) => {
      const time = byServerClock ? await readDatabaseTime(db) : now()
      const before = new Date(time.getTime() - keptDays * dayMs)
      for (let gone = batch; gone === batch; ) {
        signal.throwIfAborted()
        gone = (await db.query(remove(before, batch))).length
      }
    },
  }
}
