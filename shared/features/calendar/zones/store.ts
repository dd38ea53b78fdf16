import type { EventRow } from '#shared/features/calendar/events/event.ts'
import { eventColumns } from '#shared/features/calendar/events/store.ts'
import type { Executor } from '#shared/platform/db/database.ts'
import { sql } from '#shared/platform/db/statements/statement.ts'

// The index calendar_events_zones holds both: times that an older release made, and when they are over.
const stale = `start_at is not null and zone_release < $1 and coalesce(upper(extent), 'infinity'::timestamptz) > $2`

const find = sql(
  'find_stale_events',
  `select distinct workspace_id, coalesce(series_id, id) as id
   from (select workspace_id, series_id, id from calendar_events where ${stale} limit $3) as event order by workspace_id, id`,
)
/** Events, series as a whole, that are not over and whose times go by an older release of the time zone data than this one. */
export const findStaleEvents = (
  db: Executor,
  release: string,
  now: Date,
  atMost: number,
): Promise<{ readonly workspace_id: string; readonly id: string }[]> => db.query(find(release, now, atMost))

const count = sql('count_stale_events', `select count(*)::integer as events from calendar_events where ${stale}`)
export const countStaleEvents = async (db: Executor, release: string, now: Date): Promise<number> =>
  (await db.query<{ events: number }>(count(release, now)))[0]?.events ?? 0

const lock = sql(
  'lock_calendar_events',
  `select ${eventColumns} from calendar_events where workspace_id = $1 and id = any($2) order by id for no key update`,
)
/** Some events as they are now; whoever else locks one of them waits until the transaction ends. */
export const lockEvents = (db: Executor, workspaceId: string, ids: readonly string[]): Promise<EventRow[]> =>
  db.query<EventRow>(lock(workspaceId, ids))
