import { escape as escaped, foldLines, ICalCalendar, ICalCalendarMethod } from 'ical-generator'
import { eventTimeOf } from '#shared/features/calendar/events/event.ts'
import type { EventRow } from '#shared/features/calendar/events/store.ts'
import { cleanFileText } from '#shared/features/calendar/ics/jcal.ts'
import { type EventForFile, eventText } from '#shared/features/calendar/ics/write-event.ts'
import { zoneText } from '#shared/features/calendar/ics/zone-text.ts'

/** The contents of a file. */
interface CalendarFile {
  readonly method?: 'REQUEST' | 'CANCEL' | 'PUBLISH'
  readonly name?: string
  readonly zone?: string
  readonly events: readonly EventForFile[]
  /** DTSTAMP of every event. */
  readonly now: Date
}

const endOfCalendar = 'END:VCALENDAR'
const refreshSeconds = 3_600

/**
 * The text of a file (RFC 5545): lines of at most 75 octets, zones written out, all text escaped. The library writes a calendar's
 * properties after its events and does not escape its name. Here it writes an empty calendar as the head, with an escaped name.
 */
export function writeIcs({ method, name, zone, events, now }: CalendarFile): string {
  const calendar = new ICalCalendar({ prodId: '//Kontor//Calendar//EN', scale: 'GREGORIAN' })
  if (method) calendar.method(ICalCalendarMethod[method])
  if (name !== undefined) calendar.name(escaped(cleanFileText(name), false)).ttl(refreshSeconds)
  if (zone !== undefined) calendar.x('X-WR-TIMEZONE', zone)
  const head = calendar.toString().slice(0, -endOfCalendar.length)
  const body = events.map((one) => eventText(calendar, one, now)).join('')
  return `${head}${foldLines(zoneTexts(events) + body)}${endOfCalendar}\r\n`
}

/** The zones of the events, each from its earliest event on. */
function zoneTexts(events: readonly EventForFile[]): string {
  const earliest = new Map<string, number>()
  const addZone = (event: EventRow) => {
    const { allDay, start, zone } = eventTimeOf(event)
    if (!allDay && zone !== 'UTC') earliest.set(zone, Math.min(earliest.get(zone) ?? start, start, ...addedStarts(event)))
  }
  for (const { event, series } of events) {
    addZone(event)
    if (series) addZone(series)
  }
  return [...earliest]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([zone, from]) => zoneText(zone, from))
    .join('')
}

/** Starts of a series may lie before its first one. */
const addedStarts = ({ rdates }: EventRow): number[] => rdates.map((wall) => Date.parse(`${wall}Z`))
