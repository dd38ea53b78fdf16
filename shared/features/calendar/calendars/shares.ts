import type { Scope } from '#shared/core/scope/scope.ts'
import { requireCalendar } from '#shared/features/calendar/access.ts'
import { deleteCalendarShare, listShareRows, putCalendarShare } from '#shared/features/calendar/calendars/store.ts'
import type { CalendarShareInput, CalendarShareView } from '#shared/features/calendar/schemas.ts'
import { withMicroseconds } from '#shared/features/calendar/time.ts'
import { firstRow } from '#shared/platform/db/database.ts'
import { problem, requireRow } from '#shared/platform/kernel/errors.ts'
import { isUuid, newId } from '#shared/platform/kernel/ids.ts'

/** The shares of a calendar. Throws NOT_FOUND, and FORBIDDEN below manage access. */
export async function listCalendarShares(scope: Scope, calendarId: string): Promise<CalendarShareView[]> {
  const { calendar } = await requireCalendar(scope, calendarId, 'manage')
  return (await scope.db.query(listShareRows({ workspaceId: scope.workspace.id, calendarId: calendar.id }))).map(shareViewOf)
}

/** Shares a calendar with a member; a repeated share replaces the level. Throws VALIDATION_ERROR unless email is another member's. */
export async function addCalendarShare(
  scope: Scope,
  calendarId: string,
  { email, level }: CalendarShareInput,
): Promise<{ share: CalendarShareView; isNew: boolean }> {
  const { calendar } = await requireCalendar(scope, calendarId, 'manage')
  const row = await scope.db.transaction(async (tx) => {
    const written = putCalendarShare({ workspaceId: scope.workspace.id, calendarId: calendar.id, id: newId(), email, level })
    const share = await firstRow(tx, written)
    if (!share) throw problem('VALIDATION_ERROR', 'email must be the address of a member')
    if (share.user_id === calendar.owner_id) throw problem('VALIDATION_ERROR', 'email is the address of the owner, who needs no share')
    return share
  })
  return { share: shareViewOf(row), isNew: row.is_new }
}

/** Removes a share. Throws NOT_FOUND when the calendar has no share with this id. */
export async function removeCalendarShare(scope: Scope, calendarId: string, shareId: string): Promise<{ deleted: true }> {
  const { calendar } = await requireCalendar(scope, calendarId, 'manage')
  const share = { workspaceId: scope.workspace.id, calendarId: calendar.id, id: shareId }
  requireRow(isUuid(shareId) ? await scope.db.query(deleteCalendarShare(share)) : [])
  return { deleted: true }
}

const shareViewOf = ({ id, email, user_id, name, level, created_at }: CalendarShareView): CalendarShareView => ({
  id,
  email,
  user_id,
  name,
  level,
  created_at: withMicroseconds(created_at),
})
