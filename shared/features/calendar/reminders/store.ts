import { instant, uuid } from '#shared/platform/db/statements/sql-types.ts'
import { statement } from '#shared/platform/db/statements/statement.ts'

/** The time up to which a calendar's signals have been fired, null for never. Locks the row until the transaction ends. */
export const lockFiredUntil = statement(
  'calendar.lockFiredUntil',
  'select fired_until from calendar_states where workspace_id = $workspaceId and calendar_id = $calendarId for no key update',
  { params: { workspaceId: uuid, calendarId: uuid }, columns: { fired_until: instant } },
)

/** Stores the time up to which a calendar's signals have been fired. */
export const writeFiredUntil = statement(
  'calendar.writeFiredUntil',
  'update calendar_states set fired_until = $firedUntil where workspace_id = $workspaceId and calendar_id = $calendarId',
  { params: { workspaceId: uuid, calendarId: uuid, firedUntil: instant } },
)

/** An event of a calendar that continues or begins after a time. */
export const findLaterEvent = statement(
  'calendar.findLaterEvent',
  `select id from calendar_events
   where workspace_id = $workspaceId and calendar_id = $calendarId and extent && tstzrange($after::timestamptz, null)
     and status <> 'cancelled' and not is_removed
   limit 1`,
  { params: { workspaceId: uuid, calendarId: uuid, after: instant }, columns: { id: uuid.notNull } },
)
