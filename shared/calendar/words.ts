import rrule from 'rrule'
import { dayMs } from '#shared/calendar/time.ts'
import type { When } from '#shared/calendar/when.ts'

/** A repeat rule in words, such as `every week on Monday`; empty for none. A rule that has no words is told as it is. */
export function ruleWords(rule: string | null): string {
  if (rule === null) return ''
  try {
    const read = rrule.RRule.fromString(rule)
    return read.isFullyConvertibleToText() ? read.toText() : rule
  } catch {
    return rule
  }
}

const day = { weekday: 'long', day: 'numeric', month: 'long', year: 'numeric' } as const
const clock = { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' } as const

const formats = new Map<string, Intl.DateTimeFormat>()
function format(zone: string, parts: Intl.DateTimeFormatOptions): Intl.DateTimeFormat {
  const key = `${zone} ${Object.keys(parts).join()}`
  const known = formats.get(key)
  if (known) return known
  if (formats.size > 2_000) formats.clear()
  const made = new Intl.DateTimeFormat('en-GB', { ...parts, timeZone: zone })
  formats.set(key, made)
  return made
}

/** The day of a time, by the clock of a zone. */
export const dayWords = (at: number, zone: string): string => format(zone, day).format(at)

/** The hour and minute of a time, by the clock of a zone. */
export const clockWords = (at: number, zone: string): string => format(zone, clock).format(at)

/** The same with its distance to UTC, which tells the two times apart that read the same when clocks are put back. */
export const offsetWords = (at: number, zone: string): string => format(zone, { ...clock, timeZoneName: 'shortOffset' }).format(at)

/** A time in words, by the clock of its zone: `Tuesday 10 November 2026, 09:00 to 10:00 (America/Vancouver)`. */
export function whenWords({ allDay, start, end, zone }: When): string {
  if (allDay) {
    const last = end - dayMs
    const words = (ms: number) => format('UTC', day).format(new Date(ms))
    return last > start ? `${words(start)} to ${words(last)}` : words(start)
  }
  const [on, from, to] = [format(zone, day).format(start), format(zone, clock).format(start), format(zone, clock).format(end)]
  const until = dateIn(zone, end) === dateIn(zone, start) || end === start ? to : `${to} on ${format(zone, day).format(end)}`
  return end === start ? `${on}, ${from} (${zone})` : `${on}, ${from} to ${until} (${zone})`
}

const dateIn = (zone: string, ms: number): string => format(zone, day).format(ms)
