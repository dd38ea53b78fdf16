import { eventColumns } from '#shared/features/calendar/events/store.ts'
import { bigint, instant, integer, selectList, text, uuid, uuids } from '#shared/platform/db/statements/sql-types.ts'
import { statement } from '#shared/platform/db/statements/statement.ts'

// The index calendar_events_zones covers both conditions: the release by which the times were computed, and the end of the event.
const isStale = `start_at is not null and zone_release < $release and coalesce(upper(extent), 'infinity'::timestamptz) > $now`

/** Events, and series as a whole, that have not ended and whose times were computed by an older release of the time zone data. */
export const findStaleEvents = statement(
  'calendar.findStaleEvents',
  `select distinct workspace_id, coalesce(series_id, id) as id
   from (select workspace_id, series_id, id from calendar_events where ${isStale} limit $limit) as event order by workspace_id, id`,
  { params: { release: text, now: instant, limit: bigint }, columns: { workspace_id: uuid.notNull, id: uuid.notNull } },
)

/** The number of events, exceptions included, as in `findStaleEvents`. */
export const countStaleEvents = statement(
  'calendar.countStaleEvents',
  `select count(*)::integer as events from calendar_events where ${isStale}`,
  { params: { release: text, now: instant }, columns: { events: integer.notNull } },
)
/** Some events, locked until the transaction ends. */
export const lockEvents = statement(
  'calendar.lockEvents',
  `select ${selectList(eventColumns)} from calendar_events
   where workspace_id = $workspaceId and id = any($ids) order by id for no key update`,
  { params: { workspaceId: uuid, ids: uuids }, columns: eventColumns },
)
