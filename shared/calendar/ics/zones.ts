import { Temporal } from 'temporal-polyfill'
import type { Jcal } from '#shared/calendar/ics/jcal.ts'
import { dayMs } from '#shared/calendar/time.ts'

const yearMs = 366 * dayMs

/** How far beyond what is written a zone's clock changes are told, for series that go on. */
const tenYearsMs = 10 * yearMs

const lately = new Map<string, Jcal>()

/** A zone as its clock changes between two instants, and ten years on: in words of its own, since programs know zones by other names. */
export function zoneComponent(zone: string, from: number, to: number): Jcal {
  const [first, last] = [Math.floor(from / yearMs) * yearMs, Math.ceil((to + tenYearsMs) / yearMs) * yearMs]
  const key = `${zone} ${first} ${last}`
  const known = lately.get(key)
  if (known) return known
  if (lately.size > 500) lately.clear()
  const made: Jcal = ['vtimezone', [['tzid', {}, 'text', zone]], observances(zone, first, last)]
  lately.set(key, made)
  return made
}

interface Change {
  readonly before: number
  readonly after: number
  /** What the clock shows when it is changed. */
  readonly reading: string
}

function observances(zone: string, first: number, last: number): Jcal[] {
  const start = Temporal.Instant.fromEpochMilliseconds(first).toZonedDateTimeISO(zone)
  const changes: Change[] = [
    { before: start.offsetNanoseconds, after: start.offsetNanoseconds, reading: reading(start.epochMilliseconds, start.offsetNanoseconds) },
  ]
  for (let at = start.getTimeZoneTransition('next'); at && at.epochMilliseconds < last; at = at.getTimeZoneTransition('next')) {
    const before = at.subtract({ nanoseconds: 1 }).offsetNanoseconds
    if (before !== at.offsetNanoseconds)
      changes.push({ before, after: at.offsetNanoseconds, reading: reading(at.epochMilliseconds, before) })
  }
  const kinds = Map.groupBy(changes, ({ before, after }) => `${before} ${after}`)
  return [...kinds.values()].map((ofKind): Jcal => {
    const [{ before, after, reading }, ...later] = ofKind as [Change, ...Change[]]
    const rdates = later.length > 0 ? [['rdate', {}, 'date-time', ...later.map((one) => one.reading)] as const] : []
    return [
      after > before ? 'daylight' : 'standard',
      [
        ['dtstart', {}, 'date-time', reading],
        ['tzoffsetfrom', {}, 'utc-offset', offset(before)],
        ['tzoffsetto', {}, 'utc-offset', offset(after)],
        ...rdates,
      ],
      [],
    ]
  })
}

const reading = (ms: number, offsetNs: number): string => new Date(ms + offsetNs / 1_000_000).toISOString().slice(0, 19)

function offset(nanoseconds: number): string {
  const seconds = Math.abs(nanoseconds) / 1_000_000_000
  const two = (value: number) => String(Math.floor(value)).padStart(2, '0')
  const rest = seconds % 60 === 0 ? '' : `:${two(seconds % 60)}`
  return `${nanoseconds < 0 ? '-' : '+'}${two(seconds / 3600)}:${two((seconds % 3600) / 60)}${rest}`
}
