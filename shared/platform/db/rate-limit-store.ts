import type { Executor } from '#shared/platform/db/database.ts'
import { bigint, double, integer, type RowOf, text } from '#shared/platform/db/statements/sql-types.ts'
import { statement } from '#shared/platform/db/statements/statement.ts'

const columns = {
  requests: integer.notNull,
  /** Milliseconds until the window ends. */
  leftMs: double.notNull,
}

/** The requests of one window of time, including the one just counted. */
export type RequestWindow = RowOf<typeof columns>

const [now, end] = ['floor(extract(epoch from now()) * 1000)::bigint', '(floor(extract(epoch from now()) * 1000)::bigint + $windowMs)']

/**
 * Counts a request under its key in a window that begins with the first request and lasts `windowMs`. Windows follow the database's clock,
 * which all processes share: by the processes' own clocks, one that is two hours fast would keep a window open for two hours in all others.
 */
export const upsertWindow = statement(
  'db.upsertWindow',
  `insert into rate_limits as counted (key, points, expire) values ($key, 1, ${end})
   on conflict (key) do update set
     points = case when counted.expire <= ${now} then 1 else counted.points + 1 end,
     expire = case when counted.expire <= ${now} then ${end} else counted.expire end
   returning points as requests, (expire - ${now})::float8 as "leftMs"`,
  { params: { key: text, windowMs: bigint }, columns },
)

/** As `upsertWindow`, with its only row. */
export async function countRequest(db: Executor, key: string, windowMs: number): Promise<RequestWindow> {
  return (await db.query(upsertWindow({ key, windowMs })))[0] as RequestWindow
}
