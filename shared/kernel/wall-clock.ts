import { Temporal } from 'temporal-polyfill'

const wallClock = /^\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:\.\d{1,6})?)?$/

/**
 * The instant, RFC 3339 in UTC, of a clock on the wall in a time zone: `2026-01-31T09:30` in `Europe/Berlin`. A time that a clock change
 * skips is as long after it, one that comes twice is the first; undefined for other text.
 */
export function utcOfWallClock(text: string, timeZone: string): string | undefined {
  if (!wallClock.test(text)) return undefined
  try {
    return Temporal.PlainDateTime.from(text).toZonedDateTime(timeZone).toInstant().toString()
  } catch (error) {
    if (error instanceof RangeError) return undefined
    throw error
  }
}
