import { getRecord } from '#shared/core/records/read.ts'
import type { Scope } from '#shared/core/scope/scope.ts'
import { type Access, calendarAccessOf, isAccessAtLeast, requireAccess } from '#shared/features/calendar/access.ts'
import { type Calendar, findCalendar } from '#shared/features/calendar/calendars/store.ts'
import { timeText } from '#shared/features/calendar/event-time.ts'
import { eventAccessOf } from '#shared/features/calendar/events/access-level.ts'
import { eventTimeOf, originalStartOf } from '#shared/features/calendar/events/event.ts'
import type { EventView } from '#shared/features/calendar/events/schemas.ts'
import { type EventRow, findEvent, findEventsOfRecord } from '#shared/features/calendar/events/store.ts'
import { type Attendee, findAttendees } from '#shared/features/calendar/guests/store.ts'
import type { CalendarAccess } from '#shared/features/calendar/schemas.ts'
import { withMicroseconds } from '#shared/features/calendar/time.ts'
import { ruleInWords } from '#shared/features/calendar/time-in-words.ts'
import { firstRow } from '#shared/platform/db/database.ts'
import { problem, requireRow } from '#shared/platform/kernel/errors.ts'
import { isUuid } from '#shared/platform/kernel/ids.ts'

/** An event with its calendar, its guests and the caller's access to the calendar. */
export interface ReadEvent {
  readonly event: EventRow
  readonly calendar: Calendar
  readonly access: Access
  readonly guests: readonly Attendee[]
}

const isGuest = ({ actor: { personId } }: Scope, guests: readonly Attendee[]): boolean =>
  personId !== null && guests.some(({ user_id }) => user_id === personId)

/** An event whose details the caller may see. Throws NOT_FOUND for any other and for none, FORBIDDEN when the calendar access is too low. */
export async function requireVisibleEvent(scope: Scope, event: EventRow | undefined, needed: CalendarAccess = 'none'): Promise<ReadEvent> {
  const { actor, db, workspace } = scope
  if (!event || event.is_removed) throw problem('NOT_FOUND')
  const place = { workspaceId: workspace.id, userId: actor.personId, id: event.calendar_id }
  const calendar = requireRow(await db.query(findCalendar(place)))
  const guests = (await findAttendees(db, workspace.id, [event.id])).get(event.id) ?? []
  const access = calendarAccessOf(calendar, actor)
  if (eventAccessOf(event, { access, isGuest: isGuest(scope, guests) }) !== 'details') throw problem('NOT_FOUND')
  requireAccess(access, needed, calendar)
  return { event, calendar, access, guests }
}

/** One event (docs/contract/calendar.md#event-details). Throws NOT_FOUND unless the caller may see its details. */
export async function getEvent(scope: Scope, id: string): Promise<EventView> {
  const event = isUuid(id) ? await firstRow(scope.db, findEvent({ workspaceId: scope.workspace.id, id })) : undefined
  return eventViewOf(await requireVisibleEvent(scope, event))
}

/** Events linked to a record whose details the caller may see, latest first. Throws NOT_FOUND when the caller may not read the record. */
export async function eventsOfRecord(scope: Scope, typeKey: string, recordId: string): Promise<EventView[]> {
  const { db, workspace } = scope
  await getRecord(scope, typeKey, recordId)
  const found = await db.query(
    findEventsOfRecord({ workspaceId: workspace.id, typeKey, recordId: recordId.toLowerCase(), userId: scope.actor.personId }),
  )
  const guests = await findAttendees(
    db,
    workspace.id,
    found.map(({ id }) => id),
  )
  const calendars = new Map<string, Calendar | undefined>()
  for (const { calendar_id: id } of found)
    if (!calendars.has(id))
      calendars.set(id, await firstRow(db, findCalendar({ workspaceId: workspace.id, userId: scope.actor.personId, id })))
  return found.flatMap((event) => {
    const calendar = calendars.get(event.calendar_id)
    if (!calendar) return []
    const access = calendarAccessOf(calendar, scope.actor)
    const eventAccess = eventAccessOf(event, { access, isGuest: event.my_status !== null })
    return eventAccess === 'details' ? [eventViewOf({ event, calendar, access, guests: guests.get(event.id) ?? [] })] : []
  })
}

/** The full-detail view of an event. */
export function eventViewOf({ event, calendar, access, guests }: ReadEvent): EventView {
  const when = eventTimeOf(event)
  const original = originalStartOf(event)
  const { id, title, description, location, color, status, visibility, source, series_id, record_type, record_id } = event
  return {
    id,
    calendar_id: calendar.id,
    calendar_name: calendar.name,
    title,
    description,
    location,
    color,
    start: timeText(when.start, when.allDay),
    end: timeText(when.end, when.allDay),
    all_day: when.allDay,
    timezone: when.zone,
    recurrence: event.recurrence ?? '',
    recurrence_text: ruleInWords(event.recurrence),
    status,
    visibility,
    source,
    reminders: [...(event.reminders ?? calendar.settings.default_reminders ?? [])],
    attendees: guests.map(({ id, email, name, status, is_mailed }) => ({ id, email, name, status, mailed: is_mailed })),
    series_id,
    original_start: original === undefined ? null : timeText(original, event.original_date !== null),
    record_type,
    record_id,
    can_edit: isAccessAtLeast(access, 'write'),
    created_at: withMicroseconds(event.created_at),
    updated_at: withMicroseconds(event.updated_at),
  }
}
