import { Temporal } from 'temporal-polyfill'

/** The spelling of names in the IANA list, which leaves out offsets such as `+02:00`. */
const spelling = /^[A-Z][A-Za-z0-9]*(?:[_+-][A-Za-z0-9]+)*(?:\/[A-Z][A-Za-z0-9]*(?:[_+-][A-Za-z0-9]+)*)*$/

/** A day on which every zone is asked for its offset. */
const someDay = Temporal.PlainDate.from('2026-01-01')

/**
 * Whether text is the name of a time zone in the IANA list, in its letter case, such as `Europe/Berlin`, or an older name such as
 * `Asia/Calcutta`. The list is that of the arithmetic with times, so that a stored name can always be computed with. `Intl` also accepts
 * short names of ICU, such as `IST` and `PST`, and `SystemV/PST8`.
 */
export function isTimeZone(text: string): boolean {
  if (!spelling.test(text)) return false
  try {
    // The arithmetic accepts any letter case and returns the name in that of the list.
    return someDay.toZonedDateTime(text).timeZoneId === text
  } catch (error) {
    if (error instanceof RangeError) return false
    throw error
  }
}
