import rrule from 'rrule'
import type { EventTime } from '#shared/features/calendar/event-time.ts'
import { dayMs } from '#shared/platform/kernel/time/units.ts'

/** A repeat rule in words, such as `every week on Monday`; empty for null. A rule that the library cannot put into words stays as it is. */
export function ruleInWords(rule: string | null): string {
  if (rule === null) return ''
  try {
    const read = rrule.RRule.fromString(rule)
    return read.isFullyConvertibleToText() ? read.toText() : rule
  } catch {
    return rule
  }
}

const dayParts = { weekday: 'long', day: 'numeric', month: 'long', year: 'numeric' } as const
const clockParts = { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' } as const

const formats = new Map<string, Intl.DateTimeFormat>()
function formatFor(zone: string, parts: Intl.DateTimeFormatOptions): Intl.DateTimeFormat {
  const key = `${zone} ${Object.keys(parts).join()}`
  const known = formats.get(key)
  if (known) return known
  if (formats.size > 2_000) formats.clear()
  const created = new Intl.DateTimeFormat('en-GB', { ...parts, timeZone: zone })
  formats.set(key, created)
  return created
}

/** The date of an instant in a zone, in words. */
export const dayInWords = (at: number, zone: string): string => formatFor(zone, dayParts).format(at)

/** The hour and minute of an instant in a zone, as HH:MM. */
export const timeOfDayInWords = (at: number, zone: string): string => formatFor(zone, clockParts).format(at)

/** Hour, minute and UTC offset of an instant in a zone. The offset distinguishes the hour that occurs twice when clocks go back. */
export const timeOfDayWithOffset = (at: number, zone: string): string =>
  formatFor(zone, { ...clockParts, timeZoneName: 'shortOffset' }).format(at)

/** An event's time in words, in its own zone: `Tuesday 10 November 2026, 09:00 to 10:00 (America/Vancouver)`. */
export function eventTimeInWords({ allDay, start, end, zone }: EventTime): string {
  if (allDay) {
    const [first, last] = [dayInWords(start, 'UTC'), dayInWords(end - dayMs, 'UTC')]
    return end - dayMs > start ? `${first} to ${last}` : first
  }
  const [first, last] = [dayInWords(start, zone), dayInWords(end, zone)]
  const [from, to] = [timeOfDayInWords(start, zone), timeOfDayInWords(end, zone)]
  if (end === start) return `${first}, ${from} (${zone})`
  return `${first}, ${from} to ${to}${last === first ? '' : ` on ${last}`} (${zone})`
}
