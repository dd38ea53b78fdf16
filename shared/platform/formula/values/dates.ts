import { Decimal } from '#shared/platform/kernel/values/decimal.ts'
import { roundToTrusted } from './number.ts'
import { type DateValue, type ErrorValue, errorValues, type InstantValue, type Moment } from './value.ts'

const msPerDay = 86_400_000
export const microsPerDay = 86_400_000_000

/** Year, month (1 to 12) and day of the month of a day counted from 1970-01-01. */
export function toCivilDate(day: number): { year: number; month: number; date: number } {
  const date = new Date(day * msPerDay)
  return { year: date.getUTCFullYear(), month: date.getUTCMonth() + 1, date: date.getUTCDate() }
}

/** The day of a year, month and day of the month; months and days beyond their end carry over, as in DATE. May lie outside the calendar. */
export function dayOf(year: number, month: number, date: number): number {
  return new Date(0).setUTCFullYear(year, month - 1, date) / msPerDay
}

const firstDay = dayOf(1, 1, 1)
const lastDay = dayOf(9999, 12, 31)

/** The day as a value; outside the years 1 to 9999 it is #NUM!. */
export const dateValue = (day: number): DateValue | ErrorValue =>
  day >= firstDay && day <= lastDay ? { kind: 'date', day } : errorValues.number

const instantValue = (day: number, micros: number): InstantValue | ErrorValue =>
  day >= firstDay && day <= lastDay ? { kind: 'instant', day, micros } : errorValues.number

/** The last day that the calendar knows, 9999-12-31. */
export const lastCalendarDay = lastDay
/** The first day that the calendar knows, 0001-01-01. */
export const firstCalendarDay = firstDay

/** Microseconds since midnight; a date is its midnight. */
export const microsOf = (moment: Moment): number => (moment.kind === 'date' ? 0 : moment.micros)

/** The instant of a JavaScript date. */
export function instantFromDate(date: Date): InstantValue {
  const day = Math.floor(date.getTime() / msPerDay)
  return { kind: 'instant', day, micros: (date.getTime() - day * msPerDay) * 1_000 }
}

/** A moment so many microseconds after midnight of a day, however many they are. */
export function instantAt(day: number, micros: number): InstantValue | ErrorValue {
  const days = Math.floor(micros / microsPerDay)
  return instantValue(day + days, micros - days * microsPerDay)
}

/** A moment so many days later; a part of a day makes a date an instant, exact to the millisecond. */
export function shiftMoment(moment: Moment, by: Decimal): Moment | ErrorValue {
  const days = roundToTrusted(by)
  if (days.abs().gt(lastDay - firstDay)) return errorValues.number
  const whole = days.floor()
  if (moment.kind === 'date' && whole.eq(days)) return dateValue(moment.day + whole.toNumber())
  const millis = days.minus(whole).times(msPerDay).round().toNumber()
  return instantAt(moment.day + whole.toNumber(), microsOf(moment) + millis * 1_000)
}

/** Days from one moment to another, exact, with a fraction when a time of day is involved. */
export function daysBetween(from: Moment, to: Moment): Decimal {
  const days = new Decimal(to.day - from.day)
  const micros = microsOf(to) - microsOf(from)
  return micros === 0 ? days : days.plus(new Decimal(micros).div(microsPerDay))
}

/** Orders two moments: below, equal or above zero. */
export const compareMoments = (left: Moment, right: Moment): number => left.day - right.day || microsOf(left) - microsOf(right)

/** The same day of the month some months later, or the month's last day when it is shorter. */
export function addMonths(day: number, months: number): number {
  const { year, month, date } = toCivilDate(day)
  return Math.min(dayOf(year, month + months, date), dayOf(year, month + months + 1, 0))
}

/** 0 for Sunday to 6 for Saturday. */
export const weekdayOf = (day: number): number => (((day + 4) % 7) + 7) % 7

/** Spreadsheets count days from 1900-01-01 as 1 and believe in a 29 February 1900, so their count is one further from March on. */
const epochSerial = 25_569
const marchSerial = 61

/** The number that a spreadsheet would show for a moment. */
export function serialOf(moment: Moment): Decimal {
  const count = moment.day + epochSerial
  const serial = new Decimal(count >= marchSerial ? count : count - 1)
  const micros = microsOf(moment)
  return micros === 0 ? serial : serial.plus(new Decimal(micros).div(microsPerDay))
}

/** The moment that a spreadsheet means by a number: a date for a whole one. Below day 1 or beyond the year 9999 it is #VALUE!. */
export function momentOfSerial(serial: Decimal): Moment | ErrorValue {
  const days = roundToTrusted(serial)
  if (days.lt(1) || days.gte(lastDay + epochSerial + 1)) return errorValues.value
  return shiftMoment({ kind: 'date', day: days.lt(marchSerial) ? 1 - epochSerial : -epochSerial }, days)
}

/** `YYYY-MM-DD`. */
export const formatIsoDate = (day: number): string => new Date(day * msPerDay).toISOString().slice(0, 10)

/** RFC 3339 in UTC to the microsecond, as values of records are kept: `2026-03-01T09:30:00.000000Z`. */
export function formatExactInstant(moment: Moment): string {
  const micros = microsOf(moment)
  const seconds = new Date(Math.floor(micros / 1_000)).toISOString().slice(11, 19)
  return `${formatIsoDate(moment.day)}T${seconds}.${String(micros % 1_000_000).padStart(6, '0')}Z`
}

/** The same for reading, with as many digits of the second as it needs: `2026-03-01T09:30:00Z`. */
export const formatIsoInstant = (moment: Moment): string => formatExactInstant(moment).replace(/\.?0*Z$/, 'Z')
