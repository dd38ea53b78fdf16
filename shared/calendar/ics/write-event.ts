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
import { type Attendee, type EventRow, originalOf, seriesOf, whenOf } from '#shared/calendar/event.ts'
import { untilOf } from '#shared/calendar/expand.ts'
import { clean } from '#shared/calendar/ics/jcal.ts'
import { partsOf, ruleOf } from '#shared/calendar/rule.ts'
import { untilText } from '#shared/calendar/shift.ts'
import { hiddenTitle, type Sight } from '#shared/calendar/sight.ts'
import { dateText } from '#shared/calendar/time.ts'
import { type When, wallOf } from '#shared/calendar/when.ts'

/** One event of a file, as whoever gets the file may see it. */
export interface WrittenOut {
  readonly event: EventRow
  /** Of an exception its series, in whose zone it says which occurrence it stands for. */
  readonly series?: EventRow | undefined
  /** Starts of a series that are deleted, beside those that it leaves out itself. */
  readonly removed?: readonly number[]
  readonly sight: Exclude<Sight, 'none'>
  /** `sentBy` is the address that mails on behalf of the organizer. */
  readonly organizer?: { readonly name: string; readonly email: string; readonly sentBy?: string } | undefined
  readonly attendees?: readonly Pick<Attendee, 'email' | 'name' | 'status'>[]
  readonly reminders?: readonly number[]
}

/** The lines of an event, not folded yet. */
export const eventText = (calendar: ICalCalendar, out: WrittenOut, now: Date): string => new FileEvent(calendar, out, now).toString()

const endOfEvent = 'END:VEVENT\r\n'

/**
 * An event as the library writes it, but for two things: it names an occurrence of dates by an instant, and puts alarms before properties.
 * Both are added here, where they belong.
 */
class FileEvent extends ICalEvent {
  readonly #last: string

  constructor(calendar: ICalCalendar, out: WrittenOut, now: Date) {
    super(dataOf(out, now), calendar)
    const alarms = out.sight === 'details' ? (out.reminders ?? []) : []
    this.#last = occurrence(out) + alarms.map((minutes) => alarm(this, minutes)).join('')
  }

  override toString(): string {
    return `${super.toString().slice(0, -endOfEvent.length)}${this.#last}${endOfEvent}`
  }
}

function dataOf(out: WrittenOut, now: Date): ICalEventData {
  const { event, sight } = out
  const when = whenOf(event)
  const isOpen = sight === 'details'
  return {
    id: escaped(clean(event.uid), false),
    ...{ stamp: now, sequence: event.sequence, created: new Date(event.created_at), lastModified: new Date(event.updated_at) },
    ...{ allDay: when.allDay, timezone: when.allDay ? null : when.zone },
    start: time(when, when.start),
    end: when.end > when.start ? time(when, when.end) : null,
    repeating: repeats(out),
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

/** Dates as the library takes them in UTC; instants as a kind of value that it converts to the event's zone, which it does not do with a Date. */
const time = ({ allDay }: Pick<When, 'allDay'>, ms: number): Date | Temporal.Instant =>
  allDay ? new Date(ms) : Temporal.Instant.fromEpochMilliseconds(ms)

/** A line of starts, given as the clock of their zone shows them: with the zone's name, in UTC with a Z, dates as dates. */
function starts(name: string, { allDay, zone }: Pick<When, 'allDay' | 'zone'>, walls: readonly number[]): string {
  const short = (text: string) => text.replaceAll(/[-:]/g, '')
  if (allDay) return `${name};VALUE=DATE:${walls.map((wall) => short(dateText(wall))).join()}`
  const clock = (wall: number) => short(new Date(wall).toISOString().slice(0, 19))
  if (zone === 'UTC') return `${name}:${walls.map((wall) => `${clock(wall)}Z`).join()}`
  return `${name};TZID=${zone}:${walls.map(clock).join()}`
}

/** The rule with the starts beside it and without it: what the library writes as it is. */
function repeats({ event, removed = [] }: WrittenOut): string | null {
  const series = seriesOf(event)
  if (!series) return null
  const parts = partsOf(series.rule)
  const until = untilOf(parts.get('UNTIL'), series)
  const rule = ruleOf(parts, { UNTIL: until === undefined ? undefined : untilText(until, series) })
  const out = [...new Set([...series.exdates, ...removed.map((start) => wallOf(series, start))])].sort((a, b) => a - b)
  return [
    `RRULE:${rule}`,
    ...(series.rdates.length > 0 ? [starts('RDATE', series, series.rdates)] : []),
    ...(out.length > 0 ? [starts('EXDATE', series, out)] : []),
  ].join('\n')
}

function occurrence({ event, series }: WrittenOut): string {
  const original = originalOf(event)
  if (original === undefined) return ''
  const times = { allDay: event.original_date !== null, zone: whenOf(series ?? event).zone }
  return `${starts('RECURRENCE-ID', times, [wallOf(times, original)])}\r\n`
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

const alarm = (event: ICalEvent, minutes: number): string =>
  new ICalAlarm({ type: ICalAlarmType.display, trigger: minutes * 60, description: 'Reminder' }, event).toString()
