import type { Scope } from '#shared/core/scope/scope.ts'
import { calendarAccessOf } from '#shared/features/calendar/access.ts'
import { type Calendar, findCalendar } from '#shared/features/calendar/calendars/store.ts'
import { type EventTime, timeText } from '#shared/features/calendar/event-time.ts'
import { eventAccessOf } from '#shared/features/calendar/events/access-level.ts'
import { eventTimeOf } from '#shared/features/calendar/events/event.ts'
import type { EventRow } from '#shared/features/calendar/events/store.ts'
import type { Attendee } from '#shared/features/calendar/guests/store.ts'
import { firstRow } from '#shared/platform/db/database.ts'
import { announceEvents } from '#shared/platform/events/announce.ts'
import { newId } from '#shared/platform/kernel/ids.ts'

/** Event source of calendar events. A topic is a calendar's key. */
export const calendarEventSource = 'calendar'

/** The fourth name of announced events, beside `created`, `updated` and `cancelled`: `starting <minutes>`, such as `starting 15`. */
export const startingEventName = (minutesBefore: number): string => `starting ${minutesBefore}`
/** The minutes of a `starting` name; undefined for any other name. */
export const minutesOfEventName = (name: string): number | undefined => {
  const [, minutes] = /^starting (\d+)$/.exec(name) ?? []
  return minutes === undefined ? undefined : Number(minutes)
}

/**
 * A calendar event as flows see it, `{{trigger.calendar_event.…}}` (docs/contract/flows.md#triggers), with the columns that decide who may
 * see it.
 */
export interface AnnouncedEvent {
  readonly id: string
  readonly calendar_key: string
  readonly title: string
  readonly description: string
  readonly location: string
  readonly start: string
  readonly end: string
  readonly all_day: boolean
  readonly attendees: readonly { readonly email: string; readonly name: string; readonly status: string }[]
  readonly calendar_id: string
  readonly visibility: 'default' | 'private'
  readonly guest_ids: readonly string[]
}

type Guest = Pick<Attendee, 'email' | 'name' | 'status' | 'user_id'>

function announcedEventOf(
  { key, id }: Pick<Calendar, 'key' | 'id'>,
  event: EventRow,
  guests: readonly Guest[],
  when: EventTime = eventTimeOf(event),
): AnnouncedEvent {
  return {
    id: event.id,
    calendar_key: key,
    title: event.title,
    description: event.description,
    location: event.location,
    start: timeText(when.start, when.allDay),
    end: timeText(when.end, when.allDay),
    all_day: when.allDay,
    attendees: guests.map(({ email, name, status }) => ({ email, name, status })),
    calendar_id: id,
    visibility: event.visibility,
    guest_ids: guests.flatMap(({ user_id }) => (user_id === null ? [] : [user_id])),
  }
}

/** Announces a change of an event to subscribed flows, in the transaction of the change. */
export async function announceEvent(
  scope: Scope,
  calendar: Pick<Calendar, 'key' | 'id'>,
  name: string,
  event: EventRow,
  guests: readonly Guest[],
  options: { readonly id?: string; readonly when?: EventTime } = {},
): Promise<void> {
  const happening = { id: options.id ?? newId(), subjectId: event.id, snapshot: announcedEventOf(calendar, event, guests, options.when) }
  await announce(scope, calendar, name, [happening])
}

/** Announces many imported events at once. */
export async function announceImportedEvents(
  scope: Scope,
  calendar: Pick<Calendar, 'key' | 'id'>,
  name: 'created' | 'updated' | 'cancelled',
  events: readonly {
    readonly event: EventRow
    readonly guests: readonly (readonly [EventRow, readonly Pick<Attendee, 'email' | 'name' | 'status'>[]])[]
  }[],
): Promise<void> {
  const happenings = events.map(({ event, guests }) => {
    const eventGuests = guests.find(([{ id }]) => id === event.id)?.[1] ?? []
    return {
      id: newId(),
      subjectId: event.id,
      snapshot: announcedEventOf(
        calendar,
        event,
        eventGuests.map((guest) => ({ ...guest, user_id: null })),
      ),
    }
  })
  await announce(scope, calendar, name, happenings)
}

/** Listeners alone hear of calendar events: the list of events of the workspace does not have them. */
const announce = (scope: Scope, { key }: Pick<Calendar, 'key'>, name: string, events: Parameters<typeof announceEvents>[1]['events']) =>
  announceEvents(scope, { type: null, source: calendarEventSource, topic: key, event: name, events })

/** An actor's access to an announced event: `own` on its own personal calendar, `team` on a calendar without an owner, else `details`. */
type AnnouncedEventAccess = 'own' | 'team' | 'details' | 'none'

/** The actor's access to an announced event. `none` unless the actor may see the event's details. */
export async function accessToAnnouncedEvent(
  scope: Scope,
  event: Pick<AnnouncedEvent, 'calendar_id' | 'visibility' | 'guest_ids'>,
): Promise<AnnouncedEventAccess> {
  const { actor, db, workspace } = scope
  const calendar = await firstRow(db, findCalendar({ workspaceId: workspace.id, userId: actor.personId, id: event.calendar_id }))
  if (!calendar) return 'none'
  const access = calendarAccessOf(calendar, actor)
  if (access.level === 'owner') return 'own'
  const isGuest = actor.personId !== null && event.guest_ids.includes(actor.personId)
  if (eventAccessOf(event, { access, isGuest }) !== 'details') return 'none'
  return calendar.kind === 'personal' ? 'details' : 'team'
}
