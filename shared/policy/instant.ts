import { isDay, utcInstant } from '#shared/kernel/instant.ts'

/** `YYYY-MM-DD` when the text is that day of the calendar, years 0001 to 9999 (PostgreSQL knows no year 0000); undefined otherwise. */
export const readDay = (text: string): string | undefined => (isDay(text) ? text : undefined)

/**
 * The instant of RFC 3339 text in UTC, always written to the microsecond, `YYYY-MM-DDTHH:MM:SS.ffffffZ`, so that such texts sort as the
 * instants do; undefined when it is no instant of the years 0001 to 9999.
 */
export function readInstant(text: string): string | undefined {
  const utc = utcInstant(text)
  if (utc === undefined) return undefined
  const [seconds = '', fraction = ''] = utc.slice(0, -1).split('.')
  return `${seconds}.${fraction.padEnd(6, '0')}Z`
}
