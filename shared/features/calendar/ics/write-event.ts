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
import { type When, wallOf } from '#shared/features/calendar/event-time.ts'
import { hiddenTitle, type Sight } from '#shared/features/calendar/events/access-level.ts'
import { type Attendee, type EventRow, originalOf, seriesOf, whenOf } from '#shared/features/calendar/events/event.ts'
import { clean } from '#shared/features/calendar/ics/jcal.ts'
import { untilOf } from '#shared/features/calendar/series/expand.ts'
import { partsOf, ruleOf } from '#shared/features/calendar/series/rule.ts'
import { untilText } from '#shared/features/calendar/series/shift.ts'
import { dateText } from '#shared/features/calendar/time.ts'

/** One event of a file, as the recipient of the file may see it. */
export interface WrittenOut {
  readonly event: EventRow
  /** Of an exception, its series: RECURRENCE-ID is written in the zone of the series. */
  readonly series?: EventRow | undefined
  /** Deleted starts of a series, in addition to its own EXDATEs. */
  readonly removed?: readonly number[]
  readonly sight: Exclude<Sight, 'none'>
  /** `sentBy` is the address that mails on behalf of the organizer. */
  readonly organizer?: { readonly name: string; readonly email: string; readonly sentBy?: string } | undefined
  readonly attendees?: readonly Pick<Attendee, 'email' | 'name' | 'status'>[]
  readonly reminders?: readonly number[]
}

/** The text of an event with unfolded lines. */
export const eventText = (calendar: ICalCalendar, out: WrittenOut, now: Date): string => new FileEvent(calendar, out, now).toString()

const endOfEvent = 'END:VEVENT\r\n'

/**
 * An event as ical-generator writes it, with two corrections. The library writes the RECURRENCE-ID of an all-day event as an instant, and
 * alarms before properties; both are appended here instead.
 */
class FileEvent extends ICalEvent {
  readonly #last: string

  constructor(calendar: ICalCalendar, out: WrittenOut, now: Date) {
    super(eventData(out, now), calendar)
    const alarms = out.sight === 'details' ? (out.reminders ?? []) : []
    this.#last = recurrenceIdLine(out) + alarms.map((minutes) => alarmText(this, minutes)).join('')
  }

  override toString(): string {
    return `${super.toString().slice(0, -endOfEvent.length)}${this.#last}${endOfEvent}`
  }
}

function eventData(out: WrittenOut, now: Date): ICalEventData {
  const { event, sight } = out
  const when = whenOf(event)
  const isOpen = sight === 'details'
  return {
    id: escaped(clean(event.uid), false),
    ...{ stamp: now, sequence: event.sequence, created: new Date(event.created_at), lastModified: new Date(event.updated_at) },
    ...{ allDay: when.allDay, timezone: when.allDay ? null : when.zone },
    start: libraryTime(when, when.start),
    end: when.end > when.start ? libraryTime(when, when.end) : null,
    repeating: recurrenceLines(out),
    summary: clean(isOpen ? event.title : hiddenTitle),
    ...(isOpen ? { description: clean(event.description) || null, location: clean(event.location) || null, ...people(out) } : {}),
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
const libraryTime = ({ allDay }: Pick<When, 'allDay'>, ms: number): Date | Temporal.Instant =>
  allDay ? new Date(ms) : Temporal.Instant.fromEpochMilliseconds(ms)

/** A property line of starts, given in local time: dates as DATE, UTC with a Z, anything else with its TZID. */
function startsLine(name: string, { allDay, zone }: Pick<When, 'allDay' | 'zone'>, walls: readonly number[]): string {
  const short = (text: string) => text.replaceAll(/[-:]/g, '')
  if (allDay) return `${name};VALUE=DATE:${walls.map((wall) => short(dateText(wall))).join()}`
  const clock = (wall: number) => short(new Date(wall).toISOString().slice(0, 19))
  if (zone === 'UTC') return `${name}:${walls.map((wall) => `${clock(wall)}Z`).join()}`
  return `${name};TZID=${zone}:${walls.map(clock).join()}`
}

/** RRULE, RDATE and EXDATE lines, which the library writes unchanged. */
function recurrenceLines({ event, removed = [] }: WrittenOut): string | null {
  const series = seriesOf(event)
  if (!series) return null
  const parts = partsOf(series.rule)
  const until = untilOf(parts.get('UNTIL'), series)
  const rule = ruleOf(parts, { UNTIL: until === undefined ? undefined : untilText(until, series) })
  const out = [...new Set([...series.exdates, ...removed.map((start) => wallOf(series, start))])].sort((a, b) => a - b)
  return [
    `RRULE:${rule}`,
    ...(series.rdates.length > 0 ? [startsLine('RDATE', series, series.rdates)] : []),
    ...(out.length > 0 ? [startsLine('EXDATE', series, out)] : []),
  ].join('\n')
}

function recurrenceIdLine({ event, series }: WrittenOut): string {
  const original = originalOf(event)
  if (original === undefined) return ''
  const times = { allDay: event.original_date !== null, zone: whenOf(series ?? event).zone }
  return `${startsLine('RECURRENCE-ID', times, [wallOf(times, original)])}\r\n`
}

const answersInFiles = {
  accepted: ICalAttendeeStatus.ACCEPTED,
  declined: ICalAttendeeStatus.DECLINED,
  tentative: ICalAttendeeStatus.TENTATIVE,
  needs_action: ICalAttendeeStatus.NEEDSACTION,
} as const

function people({ organizer, attendees = [] }: WrittenOut): Pick<ICalEventData, 'organizer' | 'attendees'> {
  const address = (email: string) => clean(email).replaceAll(/\s/g, '')
  const person = ({ name, email }: { readonly name: string; readonly email: string }) => ({
    name: clean(name) || address(email),
    email: address(email),
  })
  return {
    ...(organizer ? { organizer: { ...person(organizer), ...(organizer.sentBy === undefined ? {} : { sentBy: organizer.sentBy }) } } : {}),
    attendees: attendees.map((guest) => ({
      ...{ email: address(guest.email), ...(guest.name === '' ? {} : { name: clean(guest.name) }) },
      ...{ role: ICalAttendeeRole.REQ, status: answersInFiles[guest.status], rsvp: true },
    })),
  }
}

const alarmText = (event: ICalEvent, minutes: number): string =>
  new ICalAlarm({ type: ICalAlarmType.display, trigger: minutes * 60, description: 'Reminder' }, event).toString()
