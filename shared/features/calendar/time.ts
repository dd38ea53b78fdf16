import { Temporal } from 'temporal-polyfill'
import { problem } from '#shared/platform/kernel/errors.ts'
import { isDay, toUtcInstant } from '#shared/platform/kernel/time/instant.ts'
import { dayMs } from '#shared/platform/kernel/time/units.ts'

// Time zones are computed by JavaScript's own data only. The database stores instants and dates.

/** The release of the time zone data that this process uses, such as `2026c`. */
export const zoneRelease: string = process.versions.tz ?? 'unknown'

/** An instant in UTC with microseconds (docs/contract/conventions.md#instants). */
export const instantText = (ms: number): string => new Date(ms).toISOString().replace('Z', '000Z')

/** Pads an instant that the database wrote to microseconds. */
export const withMicroseconds = (text: string): string => {
  const [, seconds = text, fraction = ''] = /^(.{19})(?:\.(\d+))?Z$/.exec(text) ?? []
  return `${seconds}.${fraction.padEnd(6, '0')}Z`
}

/** The midnight in UTC of a date, in milliseconds. Computations with dates use this form; `dateText` is the inverse. */
export const dateMs = (date: string): number => Date.parse(`${date}T00:00:00Z`)
export const dateText = (ms: number): string => new Date(ms).toISOString().slice(0, 10)

/** The weekday of a day since 1970: 0 is Monday. */
export const weekdayFromMonday = (day: number): number => (((day + 3) % 7) + 7) % 7

/** Zone offsets at midnights of UTC, in milliseconds. Computing one takes 6 µs, and a series needs the same ones many times. */
const offsets = new Map<string, Map<number, number>>()
const maxOffsetsPerZone = 1_000

function offsetsOf(zone: string): Map<number, number> {
  const known = offsets.get(zone)
  if (known && known.size < maxOffsetsPerZone) return known
  const fresh = new Map<number, number>()
  offsets.set(zone, fresh)
  return fresh
}

function offsetAt(known: Map<number, number>, day: number, zone: string): number {
  const cached = known.get(day)
  if (cached !== undefined) return cached
  const offset = exactOffset(day * dayMs, zone)
  known.set(day, offset)
  return offset
}

const exactOffset = (ms: number, zone: string): number =>
  Temporal.Instant.fromEpochMilliseconds(ms).toZonedDateTimeISO(zone).offsetNanoseconds / 1_000_000

/** The zone's offset if it is equal `before` days before an instant and `after` days after it; undefined around a clock change. */
function steadyOffset(ms: number, zone: string, before: number, after: number): number | undefined {
  const day = Math.floor(ms / dayMs)
  const known = offsetsOf(zone)
  const offset = offsetAt(known, day - before, zone)
  return offsetAt(known, day + after, zone) === offset ? offset : undefined
}

/** The local time of an instant in a zone, in milliseconds as if that local time were UTC. */
export const toWallClock = (ms: number, zone: string): number => ms + (steadyOffset(ms, zone, 0, 1) ?? exactOffset(ms, zone))

/**
 * The instant of a local time (`toWallClock`) in a zone. A time that a clock change skips uses the offset before the change; a time
 * that occurs twice is the first.
 */
export function fromWallClock(wall: number, zone: string): number {
  const offset = steadyOffset(wall, zone, 1, 2)
  return offset === undefined ? plainDateTime(wall).toZonedDateTime(zone).epochMilliseconds : wall - offset
}

/** Like `fromWallClock`; undefined for a time that a clock change skips. */
export function fromWallClockIfAny(wall: number, zone: string): number | undefined {
  const offset = steadyOffset(wall, zone, 1, 2)
  if (offset !== undefined) return wall - offset
  const ms = plainDateTime(wall).toZonedDateTime(zone).epochMilliseconds
  return toWallClock(ms, zone) === wall ? ms : undefined
}

/** A local time (`toWallClock`) as Temporal writes it. */
export const plainDateTime = (wall: number): Temporal.PlainDateTime =>
  Temporal.Instant.fromEpochMilliseconds(wall).toZonedDateTimeISO('UTC').toPlainDateTime()

/** The day of an instant in a zone. */
export const dayInZone = (ms: number, zone: string): string => dateText(toWallClock(ms, zone))

/** The instant at which a day begins in a zone: midnight, or the end of the clock change that skips midnight. */
export const startOfDay = (date: string, zone: string): number =>
  Temporal.PlainDate.from(date).toZonedDateTime({ timeZone: zone }).epochMilliseconds

/** The milliseconds of an RFC 3339 instant; undefined for any other text. */
export function instantMs(text: string): number | undefined {
  const utc = toUtcInstant(text)
  return utc === undefined ? undefined : Date.parse(utc)
}

/** Bounds of accepted times: within them, the local time of every zone has a year from 1 to 9999. */
const latestMs = Date.parse('9999-12-30T00:00:00Z')
const earliestMs = Date.parse('0001-01-03T00:00:00Z')

/** Returns the time. Throws VALIDATION_ERROR, naming the field, outside the years 1 to 9999 in any zone. */
export function requireSupportedTime(ms: number, name: string): number {
  if (ms < earliestMs || ms > latestMs) throw problem('VALIDATION_ERROR', `${name} must lie between the years 1 and 9999`)
  return ms
}

/** A span of time, in milliseconds; `to` is exclusive. */
export interface TimeWindow {
  readonly from: number
  readonly to: number
}

/** The longest window of an event list, in days (docs/contract/calendar.md#event-list). */
const maxWindowDays = 400

/**
 * Parses `from` and `to`: RFC 3339 instants, or days in a zone, of which the last is included. Throws VALIDATION_ERROR when one is
 * neither, when `to` is not after `from`, or when they are more than 400 days apart.
 */
export function readTimeWindow(from: string, to: string, zone: string): TimeWindow {
  const window = { from: readEdge('from', from, zone, 0), to: readEdge('to', to, zone, 1) }
  if (window.to <= window.from) throw problem('VALIDATION_ERROR', 'to must be after from')
  const days = (isDay(from) && isDay(to) ? dateMs(to) - dateMs(from) : window.to - window.from) / dayMs
  if (days > maxWindowDays) throw problem('VALIDATION_ERROR', `from and to must lie at most ${maxWindowDays} days apart`)
  return window
}

function readEdge(name: string, text: string, zone: string, addedDays: number): number {
  if (isDay(text)) return startOfDay(dateText(requireSupportedTime(dateMs(text), name) + addedDays * dayMs), zone)
  const ms = instantMs(text)
  if (ms === undefined) throw problem('VALIDATION_ERROR', `${name} must be an RFC 3339 instant or YYYY-MM-DD`)
  return requireSupportedTime(ms, name)
}
