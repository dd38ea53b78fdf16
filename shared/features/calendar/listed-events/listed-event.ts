import type { Calendar } from '#shared/features/calendar/calendars/store.ts'
import { timeText } from '#shared/features/calendar/event-time.ts'
import { eventTimeOf, originalStartOf } from '#shared/features/calendar/events/event.ts'
import type { EventStatus, GuestAnswer } from '#shared/features/calendar/events/schemas.ts'
import type { EventRow } from '#shared/features/calendar/events/store.ts'

/** The types of the list of events by the names under which calendar events are announced. */
export const typeOfName = {
  created: 'calendar.event.created',
  updated: 'calendar.event.updated',
  cancelled: 'calendar.event.cancelled',
  answered: 'calendar.event.answered',
  booked: 'calendar.booked',
} as const
export type ListedName = keyof typeof typeOfName
export const calendarTypes = Object.values(typeOfName)

/** Whether the list of events has what is announced under a name. */
export const isListed = (name: string): name is ListedName => Object.hasOwn(typeOfName, name)

/** The calendar of an announced event, as far as it decides who may see the event once the calendar is gone. */
export type CalendarOfEvents = Pick<Calendar, 'id' | 'key' | 'kind' | 'owner_id'>

/** A calendar event as the list of events shows it. */
export interface EventDetails {
  readonly start: string
  readonly end: string
  readonly all_day: boolean
  readonly title: string
  readonly status: EventStatus
  readonly series_id: string | null
  readonly original_start: string | null
  /** Of an answer: the guest and its answer. */
  readonly guest?: { readonly id: string; readonly status: GuestAnswer }
}

/** What decides who sees a calendar event in the list of events. */
export interface EventPlace {
  readonly calendar: CalendarOfEvents
  readonly visibility: 'default' | 'private'
  /** The members among the guests. */
  readonly guest_ids: readonly string[]
}

interface ListedEvent {
  readonly data: EventDetails
  readonly kept: EventPlace
}

/** What the list of events has of an event; `guestIds` are the members among its guests. */
export function listedEventOf(
  { id, key, kind, owner_id }: CalendarOfEvents,
  name: ListedName,
  event: EventRow,
  guestIds: readonly string[],
  guest?: EventDetails['guest'],
): ListedEvent {
  const when = eventTimeOf(event)
  const original = originalStartOf(event)
  const data = {
    start: timeText(when.start, when.allDay),
    end: timeText(when.end, when.allDay),
    all_day: when.allDay,
    title: event.title,
    status: name === 'cancelled' ? 'cancelled' : event.status,
    series_id: event.series_id,
    original_start: original === undefined ? null : timeText(original, event.original_date !== null),
  }
  const kept = { calendar: { id, key, kind, owner_id }, visibility: event.visibility, guest_ids: guestIds }
  return { data: guest === undefined ? data : { ...data, guest }, kept }
}
