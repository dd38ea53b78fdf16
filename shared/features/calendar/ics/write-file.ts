import { escape as escaped, foldLines, ICalCalendar, ICalCalendarMethod } from 'ical-generator'
import { type EventRow, eventTimeOf } from '#shared/features/calendar/events/event.ts'
import { cleanFileText } from '#shared/features/calendar/ics/jcal.ts'
import { type EventForFile, eventText } from '#shared/features/calendar/ics/write-event.ts'
import { zoneInFile } from '#shared/features/calendar/ics/write-zone.ts'

/** The contents of a file. */
export interface CalendarFile {
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
  return `${head}${foldLines(zoneTexts(events, now) + body)}${endOfCalendar}\r\n`
}

function zoneTexts(events: readonly EventForFile[], now: Date): string {
  const spans = new Map<string, { from: number; to: number }>()
  const addToSpan = (event: EventRow) => {
    const { allDay, start, end, zone } = eventTimeOf(event)
    if (allDay || zone === 'UTC') return
    const known = spans.get(zone) ?? { from: start, to: end }
    spans.set(zone, { from: Math.min(known.from, start), to: Math.max(known.to, end, event.recurrence === null ? end : now.getTime()) })
  }
  for (const { event, series } of events) {
    addToSpan(event)
    if (series) addToSpan(series)
  }
  return [...spans]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([zone, { from, to }]) => zoneInFile(zone, from, to))
    .join('')
}
