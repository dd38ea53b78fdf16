import type { Executor } from '#shared/platform/db/database.ts'
import { sql } from '#shared/platform/db/statements/statement.ts'

/** The requests of one window of time, including the one just counted. */
export interface RequestWindow {
  readonly requests: number
  /** Milliseconds until the window ends. */
  readonly leftMs: number
}

const [now, end] = ['floor(extract(epoch from now()) * 1000)::bigint', '(floor(extract(epoch from now()) * 1000)::bigint + $2)']

const count = sql(
  'count_request',
  `insert into rate_limits as counted (key, points, expire) values ($1, 1, ${end})
   on conflict (key) do update set
     points = case when counted.expire <= ${now} then 1 else counted.points + 1 end,
     expire = case when counted.expire <= ${now} then ${end} else counted.expire end
   returning points as requests, (expire - ${now})::float8 as "leftMs"`,
)
/**
 * Counts a request under its key in a window that begins with the first request and lasts `windowMs`. Windows follow the database's clock,
 * which all processes share: by the processes' own clocks, one that is two hours fast would keep a window open for two hours in all others.
 */
export async function countRequest(db: Executor, key: string, windowMs: number): Promise<RequestWindow> {
  return (await db.query<RequestWindow>(count(key, windowMs)))[0] as RequestWindow
}
