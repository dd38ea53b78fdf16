import type { Database } from '#shared/platform/db/database.ts'
import { sql } from '#shared/platform/db/statements/statement.ts'
import type { Logger } from '#shared/platform/kernel/log.ts'

/** How often the database is asked for the time. In between, the process measures how much of it goes by. */
const askMs = 30_000

/** Asked later than this the answer says too little of when it was true. */
const promptMs = 1_000

/** A process's clock that goes by the database's, so that all processes have one, whatever the clocks of their machines say. */
export interface DatabaseClock {
  readonly now: () => Date
  readonly close: () => void
}

const ask = sql('tell_time', 'select extract(epoch from clock_timestamp())::float8 * 1000 as ms')

/** The database's own time, whatever clock a process or a test goes by. */
export async function readDatabaseTime(db: Pick<Database, 'query'>): Promise<Date> {
  return new Date((await db.query<{ ms: number }>(ask()))[0]?.ms ?? Number.NaN)
}

/** Asks the database for the time, and again every half minute; while it is away the last answer counts on. Close it. */
export async function openDatabaseClock(database: Pick<Database, 'query'>, log: Logger): Promise<DatabaseClock> {
  let ahead = await readAhead(database)
  const timer = setInterval(async () => {
    try {
      ahead = (await readAhead(database)) ?? ahead
    } catch (error) {
      log.debug({ err: error }, 'could not ask for the time')
    }
  }, askMs).unref()
  const offset = () => ahead ?? Date.now() - performance.now()
  return { now: () => new Date(performance.now() + offset()), close: () => clearInterval(timer) }
}

/** By how much the database's time is ahead of the process's own count of milliseconds; undefined when it took too long to say. */
async function readAhead(database: Pick<Database, 'query'>): Promise<number | undefined> {
  const asked = performance.now()
  const [row] = await database.query<{ ms: number }>(ask())
  const answered = performance.now()
  return row && answered - asked <= promptMs ? row.ms - (asked + answered) / 2 : undefined
}
