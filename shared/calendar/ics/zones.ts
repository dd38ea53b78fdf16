import { Temporal } from 'temporal-polyfill'
import { dayMs } from '#shared/calendar/time.ts'

const yearMs = 366 * dayMs

/** How far beyond what is written a zone's clock changes are told, for series that go on. */
const tenYearsMs = 10 * yearMs

const lately = new Map<string, string>()

/** A zone as its clock changes between two instants, and ten years on: in words of its own, since programs know zones by other names. */
export function zoneText(zone: string, from: number, to: number): string {
  const [first, last] = [Math.floor(from / yearMs) * yearMs, Math.ceil((to + tenYearsMs) / yearMs) * yearMs]
  const key = `${zone} ${first} ${last}`
  const known = lately.get(key)
  if (known) return known
  if (lately.size > 500) lately.clear()
  const lines = ['BEGIN:VTIMEZONE', `TZID:${zone}`, ...observances(zone, first, last), 'END:VTIMEZONE']
  const made = lines.map((line) => `${line}\r\n`).join('')
  lately.set(key, made)
  return made
}

interface Change {
  readonly before: number
  readonly after: number
  /** What the clock shows when it is changed. */
  readonly reading: string
}

function observances(zone: string, first: number, last: number): string[] {
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
  return [...kinds.values()].flatMap((ofKind) => {
    const [{ before, after, reading }, ...later] = ofKind as [Change, ...Change[]]
    const name = after > before ? 'DAYLIGHT' : 'STANDARD'
    return [
      `BEGIN:${name}`,
      `DTSTART:${reading}`,
      `TZOFFSETFROM:${offset(before)}`,
      `TZOFFSETTO:${offset(after)}`,
      ...(later.length > 0 ? [`RDATE:${later.map((one) => one.reading).join()}`] : []),
      `END:${name}`,
    ]
  })
}

const reading = (ms: number, offsetNs: number): string =>
  new Date(ms + offsetNs / 1_000_000).toISOString().slice(0, 19).replaceAll(/[-:]/g, '')

function offset(nanoseconds: number): string {
  const seconds = Math.abs(nanoseconds) / 1_000_000_000
  const two = (value: number) => String(Math.floor(value)).padStart(2, '0')
  const rest = seconds % 60 === 0 ? '' : two(seconds % 60)
  return `${nanoseconds < 0 ? '-' : '+'}${two(seconds / 3600)}${two((seconds % 3600) / 60)}${rest}`
}
