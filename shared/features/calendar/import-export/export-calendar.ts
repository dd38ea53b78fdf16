import type { Scope } from '#shared/core/scope/scope.ts'
import { type Access, requireCalendar } from '#shared/features/calendar/access.ts'
import type { Calendar } from '#shared/features/calendar/calendars/store.ts'
import { eventAccessOf } from '#shared/features/calendar/events/access-level.ts'
import { originalStartOf } from '#shared/features/calendar/events/event.ts'
import { type EventRow, listAllEvents } from '#shared/features/calendar/events/store.ts'
import { platformAddress } from '#shared/features/calendar/guests/organizer.ts'
import { findAttendees } from '#shared/features/calendar/guests/store.ts'
import type { EventForFile } from '#shared/features/calendar/ics/write-event.ts'
import { writeIcs } from '#shared/features/calendar/ics/write-file.ts'
import { findMembersById } from '#shared/features/calendar/store.ts'
import { problem } from '#shared/platform/kernel/errors.ts'

/** Writes a calendar as a file for a reader with this access. Events whose details the reader may not see appear as busy times. */
export async function writeCalendarFile(scope: Scope, calendar: Calendar, access: Access, withGuests: boolean): Promise<string> {
  const { db, workspace } = scope
  const rows = await db.query(listAllEvents({ workspaceId: workspace.id, calendarIds: [calendar.id] }))
  const events = rows.filter(({ is_removed }) => !is_removed)
  const series = new Map(events.filter(({ recurrence }) => recurrence !== null).map((event) => [event.id, event]))
  const removed = Map.groupBy(rows, ({ is_removed, series_id }) => (is_removed ? series_id : null))
  const person = scope.actor.personId
  const ids = withGuests ? events.map(({ id }) => id) : []
  const guests = await findAttendees(db, workspace.id, ids)
  const invitations = events.filter(({ id }) => guests.has(id))
  const organizers = await findOrganizers(scope, calendar, invitations)
  const out = events.flatMap((event): EventForFile[] => {
    const own = guests.get(event.id) ?? []
    const isGuest = person !== null && own.some(({ user_id }) => user_id === person)
    const eventAccess = eventAccessOf(event, { access, isGuest })
    if (eventAccess === 'none') return []
    const organizer = event.organizer ?? (own.length > 0 ? organizers(event) : undefined)
    const starts = (removed.get(event.id) ?? []).flatMap((one: EventRow) => originalStartOf(one) ?? [])
    const reminders = event.reminders ?? []
    return [
      {
        event,
        series: series.get(event.series_id ?? ''),
        removed: starts,
        access: eventAccess,
        ...(organizer ? { organizer } : {}),
        attendees: own,
        reminders,
      },
    ]
  })
  return writeIcs({ name: calendar.name, zone: calendar.timezone, events: out, now: scope.now() })
}

/** Finds the organizer of each event, as mails name it (`organizerOf`): guests in a file need an ORGANIZER (RFC 5545, section 3.8.4.3). */
async function findOrganizers({ config, db, workspace }: Scope, { owner_id, name }: Calendar, events: readonly EventRow[]) {
  const ids = [owner_id, ...events.map(({ created_by }) => created_by)].filter((id) => id !== null)
  const members = new Map((await findMembersById(db, workspace.id, [...new Set(ids)])).map((member) => [member.id, member]))
  return ({ created_by }: EventRow): { readonly name: string; readonly email: string } =>
    members.get(owner_id ?? '') ?? members.get(created_by ?? '') ?? { name, email: platformAddress(config) }
}

/**
 * A calendar as a file (docs/contract/calendar.md#export). Throws as `requireCalendar` does, and VALIDATION_ERROR for a records calendar.
 */
export async function exportCalendarFile(scope: Scope, calendarId: string): Promise<{ name: string; text: string }> {
  const { calendar, access } = await requireCalendar(scope, calendarId, 'read')
  if (calendar.kind === 'records') throw problem('VALIDATION_ERROR', 'A records calendar is exported with its records')
  return { name: `${calendar.key}.ics`, text: await writeCalendarFile(scope, calendar, access, true) }
}
