import { requireCalendar } from '#shared/calendar/access.ts'
import type { ShareInput, ShareView } from '#shared/calendar/schemas.ts'
import { deleteShare, listShareRows, putShare } from '#shared/calendar/shares-store.ts'
import { sixDigits } from '#shared/calendar/time.ts'
import { problem } from '#shared/kernel/errors.ts'
import { isUuid, newId } from '#shared/kernel/ids.ts'
import type { Scope } from '#shared/scope/scope.ts'

/** With whom a calendar is shared, for those who manage it. */
export async function listShares(scope: Scope, calendarId: string): Promise<ShareView[]> {
  const { calendar } = await requireCalendar(scope, calendarId, 'manage')
  return (await listShareRows(scope.db, scope.workspace.id, calendar.id)).map(shown)
}

/** Shares a calendar with a member; doing it again replaces the level. VALIDATION_ERROR when the address is no other member's. */
export async function addShare(
  scope: Scope,
  calendarId: string,
  { email, level }: ShareInput,
): Promise<{ share: ShareView; isNew: boolean }> {
  const { calendar } = await requireCalendar(scope, calendarId, 'manage')
  const row = await scope.db.transaction(async (tx) => {
    const put = await putShare(tx, scope.workspace.id, calendar.id, { id: newId(), email, level })
    if (!put) throw problem('VALIDATION_ERROR', 'email must be the address of a member')
    if (put.user_id === calendar.owner_id) throw problem('VALIDATION_ERROR', 'email is the address of the owner, who needs no share')
    return put
  })
  return { share: shown(row), isNew: row.is_new }
}

/** Takes a share back. NOT_FOUND when the calendar has no such share. */
export async function removeShare(scope: Scope, calendarId: string, shareId: string): Promise<{ deleted: true }> {
  const { calendar } = await requireCalendar(scope, calendarId, 'manage')
  const isGone = isUuid(shareId) && (await deleteShare(scope.db, scope.workspace.id, calendar.id, shareId))
  if (!isGone) throw problem('NOT_FOUND')
  return { deleted: true }
}

const shown = ({ id, email, user_id, name, level, created_at }: ShareView): ShareView => ({
  ...{ id, email, user_id, name, level },
  created_at: sixDigits(created_at),
})
