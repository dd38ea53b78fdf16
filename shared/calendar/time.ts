import { Temporal } from 'temporal-polyfill'
import { problem } from '#shared/kernel/errors.ts'
import { isDay, utcInstant } from '#shared/kernel/instant.ts'

// Zones are computed by the data that JavaScript brings along and by no other: the database knows instants and dates alone.

/** The release of the time zone data that this process goes by, such as `2026c`. */
export const zoneRelease: string = process.versions.tz ?? 'unknown'

export const minuteMs = 60_000
export const dayMs = 86_400_000

/** An instant in UTC with six digits (decisions, Instants). */
export const instantText = (ms: number): string => new Date(ms).toISOString().replace('Z', '000Z')

/** The same of an instant as the database writes it. */
export const sixDigits = (text: string): string => {
  const [, seconds = text, fraction = ''] = /^(.{19})(?:\.(\d+))?Z$/.exec(text) ?? []
  return `${seconds}.${fraction.padEnd(6, '0')}Z`
}

/** A date of the calendar as the milliseconds of its midnight in UTC, and back: dates are reckoned with like that. */
export const dateMs = (date: string): number => Date.parse(`${date}T00:00:00Z`)
export const dateText = (ms: number): string => new Date(ms).toISOString().slice(0, 10)

/** Offsets of zones at midnights of UTC, in milliseconds: asking for one takes 6 µs, and a series asks for the same ones again and again. */
const offsets = new Map<string, Map<number, number>>()
const mostOffsets = 1_000

function offsetsOf(zone: string): Map<number, number> {
  const known = offsets.get(zone)
  if (known && known.size < mostOffsets) return known
  const fresh = new Map<number, number>()
  offsets.set(zone, fresh)
  return fresh
}

function offsetAt(known: Map<number, number>, day: number, zone: string): number {
  const kept = known.get(day)
  if (kept !== undefined) return kept
  const offset = exactOffset(day * dayMs, zone)
  known.set(day, offset)
  return offset
}

const exactOffset = (ms: number, zone: string): number =>
  Temporal.Instant.fromEpochMilliseconds(ms).toZonedDateTimeISO(zone).offsetNanoseconds / 1_000_000

/** The offset of a zone from some days before an instant until some after it; undefined where a clock change lies between. */
function steadyOffset(ms: number, zone: string, before: number, after: number): number | undefined {
  const day = Math.floor(ms / dayMs)
  const known = offsetsOf(zone)
  const offset = offsetAt(known, day - before, zone)
  return offsetAt(known, day + after, zone) === offset ? offset : undefined
}

/** What the clock of a zone shows at an instant, as the milliseconds that the same reading has in UTC. */
export const wallMs = (ms: number, zone: string): number => ms + (steadyOffset(ms, zone, 0, 1) ?? exactOffset(ms, zone))

/**
 * The instant at which the clock of a zone shows a reading. One that a clock change skips counts as if the clock had not been changed
 * yet, one that comes twice is the first.
 */
export function atWall(wall: number, zone: string): number {
  const offset = steadyOffset(wall, zone, 1, 2)
  return offset === undefined ? plain(wall).toZonedDateTime(zone).epochMilliseconds : wall - offset
}

/** The same; undefined for a reading that a clock change skips. */
export function atWallIfAny(wall: number, zone: string): number | undefined {
  const offset = steadyOffset(wall, zone, 1, 2)
  if (offset !== undefined) return wall - offset
  const ms = plain(wall).toZonedDateTime(zone).epochMilliseconds
  return wallMs(ms, zone) === wall ? ms : undefined
}

const plain = (wall: number): Temporal.PlainDateTime =>
  Temporal.Instant.fromEpochMilliseconds(wall).toZonedDateTimeISO('UTC').toPlainDateTime()

/** When a day begins in a zone: midnight, or the end of the clock change that skips it. */
export const startOfDay = (date: string, zone: string): number =>
  Temporal.PlainDate.from(date).toZonedDateTime({ timeZone: zone }).epochMilliseconds

/** The milliseconds of an RFC 3339 instant; undefined when the text is none. */
export function instantMs(text: string): number | undefined {
  const utc = utcInstant(text)
  return utc === undefined ? undefined : Date.parse(utc)
}

/** The latest time that is taken: every zone's clock can show it. */
const latestMs = Date.parse('9999-12-30T00:00:00Z')
const earliestMs = Date.parse('0001-01-03T00:00:00Z')

/** Throws VALIDATION_ERROR where a time cannot be reckoned with in every zone. */
export function requireReckonable(ms: number, name: string): number {
  if (ms < earliestMs || ms > latestMs) throw problem('VALIDATION_ERROR', `${name} must lie between the years 1 and 9999`)
  return ms
}

/** A span of time that a caller asks for. */
export interface Window {
  readonly from: number
  readonly to: number
}

/** The longest span that events are listed of (document 3, Limits). */
const mostDays = 400

/**
 * Reads `from` and `to`: RFC 3339 instants, or days of a zone, the last of which is still in. Throws VALIDATION_ERROR when one is neither,
 * when they are the wrong way round, or lie more than 400 days apart.
 */
export function readWindow(from: string, to: string, zone: string): Window {
  const window = { from: readEdge('from', from, zone, 0), to: readEdge('to', to, zone, 1) }
  if (window.to <= window.from) throw problem('VALIDATION_ERROR', 'to must be after from')
  const days = (isDay(from) && isDay(to) ? dateMs(to) - dateMs(from) : window.to - window.from) / dayMs
  if (days > mostDays) throw problem('VALIDATION_ERROR', `from and to must lie at most ${mostDays} days apart`)
  return window
}

function readEdge(name: string, text: string, zone: string, daysOn: number): number {
  if (isDay(text)) return startOfDay(dateText(requireReckonable(dateMs(text), name) + daysOn * dayMs), zone)
  const ms = instantMs(text)
  if (ms === undefined) throw problem('VALIDATION_ERROR', `${name} must be an RFC 3339 instant or YYYY-MM-DD`)
  return requireReckonable(ms, name)
}
