import { escape as escaped, foldLines, ICalCalendar, ICalCalendarMethod } from 'ical-generator'
import { Temporal } from 'temporal-polyfill'
import { eventTimeOf } from '#shared/features/calendar/events/event.ts'
import type { EventRow } from '#shared/features/calendar/events/store.ts'
import { cleanFileText } from '#shared/features/calendar/ics/jcal.ts'
import { type EventForFile, eventText } from '#shared/features/calendar/ics/write-event.ts'
import { dayMs } from '#shared/platform/kernel/time/units.ts'

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

const yearMs = 366 * dayMs

/** How far beyond the written events a zone's clock changes are listed, for series that continue. */
const tenYearsMs = 10 * yearMs

const textCache = new Map<string, string>()

/** The VTIMEZONE of a zone, from one instant to ten years after the other. Programs know zones by other names, so it lists all changes. */
function zoneInFile(zone: string, from: number, to: number): string {
  const [first, last] = [Math.floor(from / yearMs) * yearMs, Math.ceil((to + tenYearsMs) / yearMs) * yearMs]
  const key = `${zone} ${first} ${last}`
  const known = textCache.get(key)
  if (known) return known
  if (textCache.size > 500) textCache.clear()
  const lines = ['BEGIN:VTIMEZONE', `TZID:${zone}`, ...observanceLines(zone, first, last), 'END:VTIMEZONE']
  const text = lines.map((line) => `${line}\r\n`).join('')
  textCache.set(key, text)
  return text
}

interface Change {
  readonly before: number
  readonly after: number
  /** The local time at which the clock changes, in basic format. */
  readonly localTime: string
}

function observanceLines(zone: string, first: number, last: number): string[] {
  const start = Temporal.Instant.fromEpochMilliseconds(first).toZonedDateTimeISO(zone)
  const changes: Change[] = [
    {
      before: start.offsetNanoseconds,
      after: start.offsetNanoseconds,
      localTime: basicText(start.epochMilliseconds, start.offsetNanoseconds),
    },
  ]
  for (let at = start.getTimeZoneTransition('next'); at && at.epochMilliseconds < last; at = at.getTimeZoneTransition('next')) {
    const before = at.subtract({ nanoseconds: 1 }).offsetNanoseconds
    if (before !== at.offsetNanoseconds)
      changes.push({ before, after: at.offsetNanoseconds, localTime: basicText(at.epochMilliseconds, before) })
  }
  const kinds = Map.groupBy(changes, ({ before, after }) => `${before} ${after}`)
  return [...kinds.values()].flatMap((ofKind) => {
    const [{ before, after, localTime }, ...later] = ofKind as [Change, ...Change[]]
    const name = after > before ? 'DAYLIGHT' : 'STANDARD'
    return [
      `BEGIN:${name}`,
      `DTSTART:${localTime}`,
      `TZOFFSETFROM:${offsetText(before)}`,
      `TZOFFSETTO:${offsetText(after)}`,
      ...(later.length > 0 ? [`RDATE:${later.map((one) => one.localTime).join()}`] : []),
      `END:${name}`,
    ]
  })
}

const basicText = (ms: number, offsetNs: number): string =>
  new Date(ms + offsetNs / 1_000_000).toISOString().slice(0, 19).replaceAll(/[-:]/g, '')

function offsetText(nanoseconds: number): string {
  const seconds = Math.abs(nanoseconds) / 1_000_000_000
  const two = (value: number) => String(Math.floor(value)).padStart(2, '0')
  const rest = seconds % 60 === 0 ? '' : two(seconds % 60)
  return `${nanoseconds < 0 ? '-' : '+'}${two(seconds / 3600)}${two((seconds % 3600) / 60)}${rest}`
}
