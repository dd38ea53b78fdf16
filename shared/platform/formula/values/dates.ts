import { roundToReliableDigits } from '#shared/platform/formula/values/number.ts'
import { type DateValue, type ErrorValue, errorValues, type InstantValue, type Moment } from '#shared/platform/formula/values/value.ts'
import { dayMs } from '#shared/platform/kernel/time/units.ts'
import { Decimal } from '#shared/platform/kernel/values/decimal.ts'

export const microsPerDay = 86_400_000_000

/** Year, month (1 to 12) and day of the month of a day counted from 1970-01-01. */
export function toCivilDate(day: number): { year: number; month: number; date: number } {
  const date = new Date(day * dayMs)
  return { year: date.getUTCFullYear(), month: date.getUTCMonth() + 1, date: date.getUTCDate() }
}

/** The day of a year, month and day of the month. Months and days out of range carry over, as in DATE; the result is not bounded. */
export function dayOf(year: number, month: number, date: number): number {
  return new Date(0).setUTCFullYear(year, month - 1, date) / dayMs
}

/** First and last day of the calendar: 0001-01-01 and 9999-12-31. */
export const firstCalendarDay = dayOf(1, 1, 1)
export const lastCalendarDay = dayOf(9999, 12, 31)

/** A day as a value; #NUM! outside the years 1 to 9999. */
export const dateValue = (day: number): DateValue | ErrorValue =>
  day >= firstCalendarDay && day <= lastCalendarDay ? { kind: 'date', day } : errorValues.number

const instantValue = (day: number, micros: number): InstantValue | ErrorValue =>
  day >= firstCalendarDay && day <= lastCalendarDay ? { kind: 'instant', day, micros } : errorValues.number

/** Microseconds since midnight; 0 for a date. */
export const microsOf = (moment: Moment): number => (moment.kind === 'date' ? 0 : moment.micros)

/** The instant of a JavaScript date. */
export function instantFromDate(date: Date): InstantValue {
  const day = Math.floor(date.getTime() / dayMs)
  return { kind: 'instant', day, micros: (date.getTime() - day * dayMs) * 1_000 }
}

/** The instant a number of microseconds after midnight of a day; the number may be negative or exceed a day. */
export function instantAt(day: number, micros: number): InstantValue | ErrorValue {
  const days = Math.floor(micros / microsPerDay)
  return instantValue(day + days, micros - days * microsPerDay)
}

/** Shifts a moment by days. A fraction of a day turns a date into an instant and is exact to the millisecond. */
export function shiftMoment(moment: Moment, by: Decimal): Moment | ErrorValue {
  const days = roundToReliableDigits(by)
  if (days.abs().gt(lastCalendarDay - firstCalendarDay)) return errorValues.number
  const whole = days.floor()
  if (moment.kind === 'date' && whole.eq(days)) return dateValue(moment.day + whole.toNumber())
  const millis = days.minus(whole).times(dayMs).round().toNumber()
  return instantAt(moment.day + whole.toNumber(), microsOf(moment) + millis * 1_000)
}

/** Exact days from one moment to another, with a fraction when a time of day is involved. */
export function daysBetween(from: Moment, to: Moment): Decimal {
  const days = new Decimal(to.day - from.day)
  const micros = microsOf(to) - microsOf(from)
  return micros === 0 ? days : days.plus(new Decimal(micros).div(microsPerDay))
}

/** Compares two moments; the result is below, equal to or above zero. */
export const compareMoments = (left: Moment, right: Moment): number => left.day - right.day || microsOf(left) - microsOf(right)

/** The same day of the month after a number of months, or the last day of a shorter month. */
export function addMonths(day: number, months: number): number {
  const { year, month, date } = toCivilDate(day)
  return Math.min(dayOf(year, month + months, date), dayOf(year, month + months + 1, 0))
}

/** 0 for Sunday to 6 for Saturday. */
export const weekdayOf = (day: number): number => (((day + 4) % 7) + 7) % 7

/** Spreadsheets count 1900-01-01 as 1 and include a 29 February 1900 that never was, so their count is one higher from March 1900 on. */
const epochSerial = 25_569
const marchSerial = 61

/** Spreadsheet serial number of a moment. */
export function serialOf(moment: Moment): Decimal {
  const count = moment.day + epochSerial
  const serial = new Decimal(count >= marchSerial ? count : count - 1)
  const micros = microsOf(moment)
  return micros === 0 ? serial : serial.plus(new Decimal(micros).div(microsPerDay))
}

/** The moment of a spreadsheet serial number, a date for a whole number. #VALUE! below 1 or beyond the year 9999. */
export function momentOfSerial(serial: Decimal): Moment | ErrorValue {
  const days = roundToReliableDigits(serial)
  if (days.lt(1) || days.gte(lastCalendarDay + epochSerial + 1)) return errorValues.value
  return shiftMoment({ kind: 'date', day: days.lt(marchSerial) ? 1 - epochSerial : -epochSerial }, days)
}

/** `YYYY-MM-DD`. */
export const formatIsoDate = (day: number): string => new Date(day * dayMs).toISOString().slice(0, 10)

/** RFC 3339 in UTC with microseconds, as record values are stored: `2026-03-01T09:30:00.000000Z`. */
export function formatExactInstant(moment: Moment): string {
  const micros = microsOf(moment)
  const seconds = new Date(Math.floor(micros / 1_000)).toISOString().slice(11, 19)
  return `${formatIsoDate(moment.day)}T${seconds}.${String(micros % 1_000_000).padStart(6, '0')}Z`
}

/** RFC 3339 in UTC without trailing zeros of the fraction: `2026-03-01T09:30:00Z`. */
export const formatIsoInstant = (moment: Moment): string => formatExactInstant(moment).replace(/\.?0*Z$/, 'Z')
