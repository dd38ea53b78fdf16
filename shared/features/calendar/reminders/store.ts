import type { Executor } from '#shared/platform/db/database.ts'
import { sql } from '#shared/platform/db/statements/statement.ts'

const lock = sql(
  'lock_calendar_state',
  'select fired_until from calendar_states where workspace_id = $1 and calendar_id = $2 for no key update',
)
/** Up to when a calendar's signals have been fired, null for never; undefined when there is no such calendar. Others who ask wait. */
export async function lockFiredUntil(db: Executor, workspaceId: string, calendarId: string): Promise<string | null | undefined> {
  return (await db.query<{ fired_until: string | null }>(lock(workspaceId, calendarId)))[0]?.fired_until
}

const write = sql('write_calendar_fired', 'update calendar_states set fired_until = $3 where workspace_id = $1 and calendar_id = $2')
export async function writeFiredUntil(db: Executor, workspaceId: string, calendarId: string, at: Date): Promise<void> {
  await db.query(write(workspaceId, calendarId, at))
}

const later = sql(
  'has_later_calendar_events',
  `select from calendar_events
   where workspace_id = $1 and calendar_id = $2 and extent && tstzrange($3::timestamptz, null) and status <> 'cancelled' and not is_removed limit 1`,
)
/** Whether events of a calendar go on, or begin, after a time. */
export async function hasLaterEvents(db: Executor, workspaceId: string, calendarId: string, after: Date): Promise<boolean> {
  return (await db.query(later(workspaceId, calendarId, after))).length > 0
}
