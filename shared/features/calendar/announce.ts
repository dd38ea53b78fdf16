import type { Scope } from '#shared/core/scope/scope.ts'
import { calendarAccessOf } from '#shared/features/calendar/access.ts'
import { findCalendar } from '#shared/features/calendar/calendars/store.ts'
import { type EventTime, timeText } from '#shared/features/calendar/event-time.ts'
import { eventAccessOf } from '#shared/features/calendar/events/access-level.ts'
import { eventTimeOf } from '#shared/features/calendar/events/event.ts'
import type { EventRow } from '#shared/features/calendar/events/store.ts'
import type { Attendee } from '#shared/features/calendar/guests/store.ts'
import {
  type CalendarOfEvents,
  type EventDetails,
  isListed,
  type ListedName,
  listedEventOf,
  typeOfName,
} from '#shared/features/calendar/listed-events/listed-event.ts'
import { firstRow } from '#shared/platform/db/database.ts'
import { announceEvents } from '#shared/platform/events/announce.ts'
import { newId } from '#shared/platform/kernel/ids.ts'

/** Event source of calendar events. A topic is a calendar's key. */
export const calendarEventSource = 'calendar'

/** The only name that the list of events does not have: `starting <minutes>`, such as `starting 15`, which flows listen for. */
export const startingEventName = (minutesBefore: number): `starting ${number}` => `starting ${minutesBefore}`
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

const memberIdsOf = (guests: readonly Pick<Guest, 'user_id'>[]): string[] =>
  guests.flatMap(({ user_id }) => (user_id === null ? [] : [user_id]))

function announcedEventOf(
  { key, id }: CalendarOfEvents,
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
    guest_ids: memberIdsOf(guests),
  }
}

interface AnnouncementOptions {
  readonly id?: string
  readonly when?: EventTime
  readonly guest?: EventDetails['guest']
  /** Whether the list of events has it; flows receive it either way. */
  readonly inList?: boolean
}

/** Announces an event to the workspace's list of events and to flows, in the transaction of what happened. */
export async function announceEvent(
  scope: Scope,
  calendar: CalendarOfEvents,
  name: ListedName | `starting ${number}`,
  event: EventRow,
  guests: readonly Guest[],
  { id = newId(), when, guest, inList = true }: AnnouncementOptions = {},
): Promise<void> {
  const listed = inList && isListed(name) ? listedEventOf(calendar, name, event, memberIdsOf(guests), guest) : {}
  const happening = { id, subjectId: event.id, snapshot: announcedEventOf(calendar, event, guests, when), ...listed }
  await announce(scope, calendar, name, [happening], { inList })
}

/** Imported events of which one thing is announced. */
interface ImportedEvents {
  readonly name: 'created' | 'updated' | 'cancelled'
  readonly events: readonly {
    readonly event: EventRow
    readonly guests: readonly (readonly [EventRow, readonly Pick<Attendee, 'email' | 'name' | 'status'>[]])[]
  }[]
  /** Members among the guests by event. */
  readonly memberIds: ReadonlyMap<string, readonly string[]>
  /** Whether flows receive them; those that are over start none. */
  readonly isDelivered: boolean
}

/** Announces many imported events at once. */
export async function announceImportedEvents(
  scope: Scope,
  calendar: CalendarOfEvents,
  { name, events, memberIds, isDelivered }: ImportedEvents,
): Promise<void> {
  const happenings = events.map(({ event, guests }) => {
    const eventGuests = (guests.find(([{ id }]) => id === event.id)?.[1] ?? []).map((guest) => ({ ...guest, user_id: null }))
    return {
      id: newId(),
      subjectId: event.id,
      snapshot: isDelivered ? announcedEventOf(calendar, event, eventGuests) : null,
      ...listedEventOf(calendar, name, event, memberIds.get(event.id) ?? []),
    }
  })
  await announce(scope, calendar, name, happenings, { isDelivered })
}

type Announcing = Parameters<typeof announceEvents>

/** Announces events that new time zone data moved. Flows do not receive this, since nobody changed the events. */
export async function announceRederivedEvents(
  scope: Announcing[0],
  calendar: CalendarOfEvents,
  events: readonly EventRow[],
  memberIds: ReadonlyMap<string, readonly string[]>,
): Promise<void> {
  const happenings = events.map((event) => ({
    id: newId(),
    subjectId: event.id,
    snapshot: null,
    ...listedEventOf(calendar, 'updated', event, memberIds.get(event.id) ?? []),
  }))
  await announce(scope, calendar, 'updated', happenings, { isDelivered: false })
}

const announce = (
  scope: Announcing[0],
  { id, key }: CalendarOfEvents,
  name: string,
  events: readonly Omit<Announcing[1]['events'][number], 'subject'>[],
  { isDelivered = true, inList = true } = {},
) =>
  announceEvents(scope, {
    type: inList && isListed(name) ? typeOfName[name] : null,
    source: calendarEventSource,
    topic: key,
    event: name,
    events: events.map((event) => ({ ...event, subject: { calendar: id, id: event.subjectId } })),
    isDelivered,
  })

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
