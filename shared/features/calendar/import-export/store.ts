import type { EventRow } from '#shared/features/calendar/events/event.ts'
import type { Executor } from '#shared/platform/db/database.ts'
import { sql } from '#shared/platform/db/statements/statement.ts'

const removeExceptions = sql(
  'delete_event_exceptions',
  'delete from calendar_events where workspace_id = $1 and series_id = any($2) and id <> all($3)',
)
/** Deletes the changed and removed occurrences of some series, but for those of `keptIds`. */
export async function deleteOtherExceptions(
  db: Executor,
  workspaceId: string,
  seriesIds: readonly string[],
  keptIds: readonly string[],
): Promise<void> {
  if (seriesIds.length > 0) await db.query(removeExceptions(workspaceId, seriesIds, keptIds))
}

const uids = sql(
  'find_event_uids',
  `select uid, id, sequence, created_at from calendar_events
   where workspace_id = $1 and calendar_id = $2 and uid = any($3) and series_id is null order by id for no key update`,
)
/** What a calendar has under some UIDs, locked. */
export const lockEventsByUid = (db: Executor, workspaceId: string, calendarId: string, of: readonly string[]) =>
  db.query<Pick<EventRow, 'uid' | 'id' | 'sequence' | 'created_at'>>(uids(workspaceId, calendarId, of))
