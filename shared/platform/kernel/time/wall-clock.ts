import { Temporal } from 'temporal-polyfill'

const wallClock = /^\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:\.\d{1,6})?)?$/

/**
 * Converts local time in a time zone, such as `2026-01-31T09:30` in `Europe/Berlin`, to an RFC 3339 instant in UTC. A time that a clock
 * change skips is moved past the change by the length of the gap; of a time that occurs twice the first is taken. Returns undefined for
 * other text.
 */
export function wallClockToUtc(text: string, timeZone: string): string | undefined {
  if (!wallClock.test(text)) return undefined
  try {
    return Temporal.PlainDateTime.from(text).toZonedDateTime(timeZone).toInstant().toString()
  } catch (error) {
    if (error instanceof RangeError) return undefined
    throw error
  }
}

/** The local time of an instant, as a `Date` whose UTC parts are those of the zone's clock. */
export const toWallTime = (instant: Date, timeZone: string): Date =>
  new Date(instant.getTime() + zoned(instant, timeZone).offsetNanoseconds / 1_000_000)

/**
 * The instant of a local time that `toWallTime` could give. A time that a clock change skips is the instant of the change; of a time that
 * occurs twice it is the first.
 */
export function fromWallTime(wallTime: Date, timeZone: string): Date {
  const plain = zoned(wallTime, 'UTC').toPlainDateTime()
  const found = plain.toZonedDateTime(timeZone)
  if (found.toPlainDateTime().equals(plain)) return new Date(found.epochMilliseconds)
  // `previous` leaves out a change at the instant itself.
  const change = found.add({ nanoseconds: 1 }).getTimeZoneTransition('previous')
  return new Date((change ?? found).epochMilliseconds)
}

const zoned = (instant: Date, timeZone: string): Temporal.ZonedDateTime =>
  Temporal.Instant.fromEpochMilliseconds(instant.getTime()).toZonedDateTimeISO(timeZone)
