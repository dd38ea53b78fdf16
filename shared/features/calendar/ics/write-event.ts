import {
  escape as escaped,
  ICalAlarm,
  ICalAlarmType,
  ICalAttendeeRole,
  ICalAttendeeStatus,
  type ICalCalendar,
  ICalEvent,
  ICalEventClass,
  type ICalEventData,
  ICalEventStatus,
  ICalEventTransparency,
} from 'ical-generator'
import { Temporal } from 'temporal-polyfill'
import { type EventTime, wallClockOf } from '#shared/features/calendar/event-time.ts'
import { type EventAccess, hiddenTitle } from '#shared/features/calendar/events/access-level.ts'
import { eventTimeOf, originalStartOf, seriesOf, takesPlace } from '#shared/features/calendar/events/event.ts'
import type { EventRow } from '#shared/features/calendar/events/store.ts'
import type { Attendee } from '#shared/features/calendar/guests/store.ts'
import { cleanFileText } from '#shared/features/calendar/ics/jcal.ts'
import { lastInstantOf } from '#shared/features/calendar/series/expand.ts'
import { rulePartsOf, ruleText } from '#shared/features/calendar/series/rule.ts'
import { untilText } from '#shared/features/calendar/series/shift.ts'
import { dateText } from '#shared/features/calendar/time.ts'

/** One event of a file, as the recipient of the file may see it. */
export interface EventForFile {
  readonly event: EventRow
  /** Of an exception, its series: RECURRENCE-ID is written in the zone of the series. */
  readonly series?: EventRow | undefined
  /** Deleted starts of a series, in addition to its own EXDATEs. */
  readonly removed?: readonly number[]
  readonly access: Exclude<EventAccess, 'none'>
  /** `sentBy` is the address that mails on behalf of the organizer. */
  readonly organizer?: { readonly name: string; readonly email: string; readonly sentBy?: string } | undefined
  readonly attendees?: readonly Pick<Attendee, 'email' | 'name' | 'status'>[]
  readonly reminders?: readonly number[]
}

/** The text of an event with unfolded lines. */
export const eventText = (calendar: ICalCalendar, out: EventForFile, now: Date): string => new FileEvent(calendar, out, now).toString()

const endOfEvent = 'END:VEVENT\r\n'

/**
 * An event as ical-generator writes it, with two corrections. The library writes the RECURRENCE-ID of an all-day event as an instant, and
 * alarms before properties; both are appended here instead.
 */
class FileEvent extends ICalEvent {
  readonly #last: string

  constructor(calendar: ICalCalendar, out: EventForFile, now: Date) {
    super(eventData(out, now), calendar)
    const alarms = out.access === 'details' ? (out.reminders ?? []) : []
    this.#last = recurrenceIdLine(out) + alarms.map((minutes) => alarmText(this, minutes)).join('')
  }

  override toString(): string {
    return `${super.toString().slice(0, -endOfEvent.length)}${this.#last}${endOfEvent}`
  }
}

function eventData(out: EventForFile, now: Date): ICalEventData {
  const { event, access } = out
  const when = eventTimeOf(event)
  const showsDetails = access === 'details'
  return {
    id: escaped(cleanFileText(event.uid), false),
    stamp: now,
    sequence: event.sequence,
    created: new Date(event.created_at),
    lastModified: new Date(event.updated_at),
    allDay: when.allDay,
    timezone: when.allDay ? null : when.zone,
    start: libraryTime(when, when.start),
    end: when.end > when.start ? libraryTime(when, when.end) : null,
    repeating: recurrenceLines(out),
    summary: cleanFileText(showsDetails ? event.title : hiddenTitle),
    ...(showsDetails
      ? { description: cleanFileText(event.description) || null, location: cleanFileText(event.location) || null, ...people(out) }
      : {}),
    status: statuses[event.status],
    class: event.visibility === 'private' ? ICalEventClass.PRIVATE : null,
    transparency: event.is_free ? ICalEventTransparency.TRANSPARENT : null,
  }
}

const statuses = {
  confirmed: ICalEventStatus.CONFIRMED,
  tentative: ICalEventStatus.TENTATIVE,
  cancelled: ICalEventStatus.CANCELLED,
} as const

/** The library reads dates in UTC. It converts Temporal.Instant values to the zone of the event, but not Date values. */
const libraryTime = ({ allDay }: Pick<EventTime, 'allDay'>, ms: number): Date | Temporal.Instant =>
  allDay ? new Date(ms) : Temporal.Instant.fromEpochMilliseconds(ms)

/** A property line of starts, given in local time: dates as DATE, UTC with a Z, anything else with its TZID. */
function startsLine(name: string, { allDay, zone }: Pick<EventTime, 'allDay' | 'zone'>, walls: readonly number[]): string {
  const short = (text: string) => text.replaceAll(/[-:]/g, '')
  if (allDay) return `${name};VALUE=DATE:${walls.map((wall) => short(dateText(wall))).join()}`
  const clock = (wall: number) => short(new Date(wall).toISOString().slice(0, 19))
  if (zone === 'UTC') return `${name}:${walls.map((wall) => `${clock(wall)}Z`).join()}`
  return `${name};TZID=${zone}:${walls.map(clock).join()}`
}

/** RRULE, RDATE and EXDATE lines, which the library writes unchanged. */
function recurrenceLines({ event, removed = [] }: EventForFile): string | null {
  const series = seriesOf(event)
  if (!series) return null
  const parts = rulePartsOf(series.rule)
  const until = lastInstantOf(parts.get('UNTIL'), series)
  const rule = ruleText(parts, { UNTIL: until === undefined ? undefined : untilText(until, series) })
  const out = [...new Set([...series.exdates, ...removed.map((start) => wallClockOf(series, start))])].sort((a, b) => a - b)
  return [
    `RRULE:${rule}`,
    ...(series.rdates.length > 0 ? [startsLine('RDATE', series, series.rdates)] : []),
    ...(out.length > 0 ? [startsLine('EXDATE', series, out)] : []),
  ].join('\n')
}

function recurrenceIdLine({ event, series }: EventForFile): string {
  const original = originalStartOf(event)
  if (original === undefined) return ''
  const times = { allDay: event.original_date !== null, zone: eventTimeOf(series ?? event).zone }
  return `${startsLine('RECURRENCE-ID', times, [wallClockOf(times, original)])}\r\n`
}

const answersInFiles = {
  accepted: ICalAttendeeStatus.ACCEPTED,
  declined: ICalAttendeeStatus.DECLINED,
  tentative: ICalAttendeeStatus.TENTATIVE,
  needs_action: ICalAttendeeStatus.NEEDSACTION,
} as const

function people({ organizer, attendees = [] }: EventForFile): Pick<ICalEventData, 'organizer' | 'attendees'> {
  const address = (email: string) => cleanFileText(email).replaceAll(/\s/g, '')
  const person = ({ name, email }: { readonly name: string; readonly email: string }) => ({
    name: cleanFileText(name) || address(email),
    email: address(email),
  })
  return {
    ...(organizer ? { organizer: { ...person(organizer), ...(organizer.sentBy === undefined ? {} : { sentBy: organizer.sentBy }) } } : {}),
    attendees: attendees.map((guest) => ({
      email: address(guest.email),
      ...(guest.name === '' ? {} : { name: cleanFileText(guest.name) }),
      role: ICalAttendeeRole.REQ,
      status: answersInFiles[guest.status],
      rsvp: true,
    })),
  }
}

const alarmText = (event: ICalEvent, minutes: number): string =>
  new ICalAlarm({ type: ICalAlarmType.display, trigger: minutes * 60, description: 'Reminder' }, event).toString()

/** How a file names a guest. */
export type NamedGuest = Pick<Attendee, 'email' | 'name' | 'status'>

/**
 * The entries of an event in the file of one guest. A series leaves out the occurrences that do not take place for the guest: deleted,
 * cancelled, or without an invitation. Its changed occurrences follow it. `guestIn` finds the guest in an exception, undefined for none.
 */
export function withExceptions(
  out: EventForFile,
  exceptions: readonly EventRow[],
  guestIn: (exception: EventRow) => NamedGuest | undefined,
): EventForFile[] {
  const withGuests = exceptions.map((event) => ({ event, guest: takesPlace(event) ? guestIn(event) : undefined }))
  const removed = withGuests.filter(({ guest }) => guest === undefined).flatMap(({ event }) => originalStartOf(event) ?? [])
  const kept = withGuests.flatMap(({ event, guest }) => (guest ? [{ ...out, event, series: out.event, attendees: [guest] }] : []))
  return [{ ...out, removed }, ...kept]
}
