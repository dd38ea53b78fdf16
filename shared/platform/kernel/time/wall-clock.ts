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
