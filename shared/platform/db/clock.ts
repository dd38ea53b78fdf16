import type { Registry } from 'prom-client'
import type { Database } from '#shared/platform/db/database.ts'
import { double } from '#shared/platform/db/statements/sql-types.ts'
import { statement } from '#shared/platform/db/statements/statement.ts'
import type { Logger } from '#shared/platform/kernel/log.ts'
import { addGauge } from '#shared/platform/kernel/metrics.ts'

/** The interval at which the database is asked for the time. In between, the process measures the elapsed time. */
const askMs = 30_000

/** The database's time is used only when it arrives within this time: a slower answer is too inexact. */
const promptMs = 1_000

/** Seconds by which the clock of the machine may differ from the database's without a warning. */
const maxSkewSeconds = 5

/** A clock that follows the database's time, so that all processes share one, whatever their machines' clocks show. */
export interface DatabaseClock {
  readonly now: () => Date
  /** Seconds by which the clock of this machine is ahead of the database's, as last measured. Nothing is computed by it, but its logs are. */
  readonly skewSeconds: () => number
  readonly close: () => void
}

const readTime = statement('db.readTime', 'select extract(epoch from clock_timestamp())::float8 * 1000 as ms', {
  params: {},
  columns: { ms: double.notNull },
})

/** Reads the database's own time, whatever clock the process or a test uses. */
export async function readDatabaseTime(db: Pick<Database, 'query'>): Promise<Date> {
  return new Date((await db.query(readTime()))[0]?.ms ?? Number.NaN)
}

/** Reads the database's time now and every half minute; during an outage the last answer is extrapolated. The caller must close it. */
export async function openDatabaseClock(database: Pick<Database, 'query'>, log: Logger): Promise<DatabaseClock> {
  let ahead = await readAhead(database)
  let isWarned = false
  const offset = () => ahead ?? Date.now() - performance.now()
  const skewSeconds = () => (Date.now() - performance.now() - offset()) / 1_000
  const warnOfSkew = () => {
    const isSkewed = Math.abs(skewSeconds()) > maxSkewSeconds
    if (isSkewed && !isWarned)
      log.warn({ skew_seconds: Math.round(skewSeconds()) }, 'the clock of this machine is wrong, or that of the database')
    isWarned = isSkewed
  }
  warnOfSkew()
  const timer = setInterval(async () => {
    try {
      ahead = (await readAhead(database)) ?? ahead
      warnOfSkew()
    } catch (error) {
      log.debug({ err: error }, 'could not ask for the time')
    }
  }, askMs).unref()
  return { now: () => new Date(performance.now() + offset()), skewSeconds, close: () => clearInterval(timer) }
}

/** Milliseconds by which the database's time is ahead of `performance.now()`; undefined when the answer took too long. */
async function readAhead(database: Pick<Database, 'query'>): Promise<number | undefined> {
  const sentAt = performance.now()
  const [row] = await database.query(readTime())
  const answeredAt = performance.now()
  return row && answeredAt - sentAt <= promptMs ? row.ms - (sentAt + answeredAt) / 2 : undefined
}

/** Registers the gauge of the clock's skew. The returned function adds a clock and returns a function that removes it. */
export function registerClockGauge(registry: Registry): (clock: Pick<DatabaseClock, 'skewSeconds'>) => () => void {
  const clocks = new Set<Pick<DatabaseClock, 'skewSeconds'>>()
  const help = 'Seconds by which the clock of this machine is ahead of the clock of the database'
  addGauge(registry, 'kontor_clock_skew_seconds', help, [], async () =>
    [...clocks].map(({ skewSeconds }) => ({ labels: {}, value: skewSeconds() })),
  )
  return (clock) => {
    clocks.add(clock)
    return () => void clocks.delete(clock)
  }
}
