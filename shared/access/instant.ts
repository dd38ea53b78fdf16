import { Temporal } from 'temporal-polyfill'

const dayForm = /^\d{4}-\d{2}-\d{2}$/
const instantForm = /^\d{4}-\d{2}-\d{2}[Tt]\d{2}:\d{2}:\d{2}(?:\.\d{1,9})?(?:[Zz]|[+-]\d{2}:\d{2})$/

/** `YYYY-MM-DD` when the text is that day of the calendar, years 0001 to 9999 (PostgreSQL knows no year 0000); undefined otherwise. */
export function readDay(text: string): string | undefined {
  if (!dayForm.test(text) || text.startsWith('0000')) return undefined
  return withoutThrowing(() => Temporal.PlainDate.from(text).toString())
}

/**
 * The instant of RFC 3339 text in UTC to the microsecond, always written `YYYY-MM-DDTHH:MM:SS.ffffffZ`, so that such texts sort as the
 * instants do. Finer digits are cut off, as a timestamptz keeps none; a leap second is the second after it. undefined when it is no
 * instant of the years 0001 to 9999.
 */
export function readInstant(text: string): string | undefined {
  if (!instantForm.test(text)) return undefined
  const leap = { seconds: text.startsWith('60', 17) ? 1 : 0 }
  const utc = withoutThrowing(() => Temporal.Instant.from(text).add(leap).toString({ smallestUnit: 'microsecond', roundingMode: 'floor' }))
  return utc === undefined || !/^\d{4}-/.test(utc) || utc.startsWith('0000') ? undefined : utc
}

function withoutThrowing(read: () => string): string | undefined {
  try {
    return read()
  } catch {
    return undefined // Temporal throws on days and times that do not exist, such as 30 February.
  }
}
