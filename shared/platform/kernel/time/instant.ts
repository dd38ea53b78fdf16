import { dayMs, minuteMs } from '#shared/platform/kernel/time/units.ts'

const day = /^(\d{4})-(\d{2})-(\d{2})$/
const instant = /^(\d{4}-\d{2}-\d{2})[Tt](\d{2}):(\d{2}):(\d{2})(?:\.(\d+))?(?:[Zz]|([+-])(\d{2}):(\d{2}))$/

const daysOfMonth = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
const isLeapYear = (year: number): boolean => (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0

/** Whether text is a calendar day as YYYY-MM-DD, in the years 0001 to 9999. */
export function isDay(text: string): boolean {
  const [, year, month, date] = (day.exec(text) ?? []).map(Number)
  if (year === undefined || month === undefined || date === undefined) return false
  const last = month === 2 && isLeapYear(year) ? 29 : (daysOfMonth[month - 1] ?? 0)
  return year >= 1 && date >= 1 && date <= last
}

/**
 * Converts RFC 3339 text to UTC with microseconds (`2026-01-01T00:00:00.000000Z`), so that texts sort as the instants do
 * (docs/contract/conventions.md#instants). Further digits are cut off. A leap second counts as the midnight after it. Returns undefined for
 * other text and for instants outside the years 0001 to 9999.
 */
export function toUtcInstant(text: string): string | undefined {
  const match = instant.exec(text)
  if (match === null) return undefined
  const [, date = '', hour = '', minute = '', second = '', fraction = '', sign, offsetHour, offsetMinute] = match
  if (!isDay(date) || Number(hour) > 23 || Number(minute) > 59 || Number(second) > 60) return undefined
  if (Number(offsetHour ?? 0) > 23 || Number(offsetMinute ?? 0) > 59) return undefined
  const offsetMinutes = sign === undefined ? 0 : Number(`${sign}1`) * (Number(offsetHour) * 60 + Number(offsetMinute))
  const local = Date.parse(`${date}T${hour}:${minute}:00Z`)
  const utc = new Date(local + Number(second) * 1_000 - offsetMinutes * minuteMs)
  const seconds = utc.toISOString().slice(0, -5)
  if (!isDay(seconds.slice(0, -9)) || (second === '60' && !seconds.endsWith('T00:00:00'))) return undefined
  return `${seconds}.${fraction.slice(0, 6).padEnd(6, '0')}Z`
}

/** Converts a Date to the form of `toUtcInstant`. */
export const toInstant = (date: Date): string => `${date.toISOString().slice(0, -1)}000Z`

/**
 * The instant one microsecond later. Input and result have the form that `toUtcInstant` returns, which is also that of instants from the
 * database.
 */
export function nextInstant(utc: string): string {
  const micros = Number(utc.slice(20, 26)) + 1
  if (micros < 1_000_000) return `${utc.slice(0, 20)}${String(micros).padStart(6, '0')}Z`
  return `${new Date(Date.parse(`${utc.slice(0, 19)}Z`) + 1_000).toISOString().slice(0, 19)}.000000Z`
}

/** The day after, YYYY-MM-DD; after 9999-12-31 comes 10000-01-01, which PostgreSQL reads. */
export function nextDay(date: string): string {
  const next = new Date(Date.parse(`${date}T00:00:00Z`) + dayMs).toISOString()
  return next.startsWith('+') ? next.slice(2, 13) : next.slice(0, 10)
}
