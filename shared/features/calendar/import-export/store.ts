import { eventColumns } from '#shared/features/calendar/events/store.ts'
import type { Executor } from '#shared/platform/db/database.ts'
import { selectList, texts, uuid, uuids } from '#shared/platform/db/statements/sql-types.ts'
import { statement } from '#shared/platform/db/statements/statement.ts'

const deleteExceptionRows = statement(
  'calendar.deleteExceptionRows',
  'delete from calendar_events where workspace_id = $workspaceId and series_id = any($seriesIds) and id <> all($keptIds)',
  { params: { workspaceId: uuid, seriesIds: uuids, keptIds: uuids } },
)

/** Deletes the exceptions of the given series, the changed and the removed occurrences, except those whose ids are in `keptIds`. */
export async function deleteOtherExceptions(
  db: Executor,
  workspaceId: string,
  seriesIds: readonly string[],
  keptIds: readonly string[],
): Promise<void> {
  if (seriesIds.length > 0) await db.query(deleteExceptionRows({ workspaceId, seriesIds, keptIds }))
}

/** Reads the events and series of a calendar that have one of the UIDs, and locks their rows until the transaction ends. */
export const lockEventsByUid = statement(
  'calendar.lockEventsByUid',
  `select ${selectList(eventColumns)} from calendar_events
   where workspace_id = $workspaceId and calendar_id = $calendarId and uid = any($uids) and series_id is null
   order by id for no key update`,
  { params: { workspaceId: uuid, calendarId: uuid, uids: texts }, columns: eventColumns },
)
