import { dateValue, dayOf, instantAt, microsPerDay, toCivilDate } from '#shared/platform/formula/values/dates.ts'
import { type ErrorValue, errorValues, type Moment } from '#shared/platform/formula/values/value.ts'
import { Decimal } from '#shared/platform/kernel/values/decimal.ts'

/**
 * A parsed text: a day, a time of day in microseconds, or both. The time is below 0 or above 24 hours when its zone moves it to another
 * day.
 */
interface DateText {
  readonly day: number | null
  readonly micros: number | null
}

/** Names of months and days in English, the language of spreadsheet formulas. */
export const monthNames = 'January February March April May June July August September October November December'.split(' ')
export const dayNames = 'Sunday Monday Tuesday Wednesday Thursday Friday Saturday'.split(' ')

/** Two-digit years: 00 to 29 are 2000 to 2029, 30 to 99 are 1930 to 1999, as in spreadsheets. */
const fullYear = (digits: string): number => (digits.length > 2 ? Number(digits) : Number(digits) + (Number(digits) < 30 ? 2000 : 1900))

const monthNumber = (name: string): number =>
  1 + monthNames.findIndex((month) => [month, month.slice(0, 3)].some((form) => form.toLowerCase() === name.toLowerCase()))

type DateForm = readonly [pattern: RegExp, read: (...parts: string[]) => readonly [year: number, month: number, date: number]]

/** Accepted date forms. Only the first, the form of date fields, allows years before 1900. */
const dateForms: readonly DateForm[] = [
  [/^(\d{4})-(\d{1,2})-(\d{1,2})(?![\d/-])/, (y, m, d) => [Number(y), Number(m), Number(d)]],
  [/^(\d{4})\/(\d{1,2})\/(\d{1,2})(?![\d/-])/, (y, m, d) => [Number(y), Number(m), Number(d)]],
  [/^(\d{1,2})\/(\d{1,2})\/(\d{4}|\d{2})(?![\d/-])/, (m, d, y) => [fullYear(y!), Number(m), Number(d)]],
  [/^(\d{1,2})[- ]([a-z]{3,9})[- ](\d{4}|\d{2})(?![\d/-])/i, (d, m, y) => [fullYear(y!), monthNumber(m!), Number(d)]],
  [/^([a-z]{3,9}) (\d{1,2}),? (\d{4}|\d{2})(?![\d/-])/i, (m, d, y) => [fullYear(y!), monthNumber(m!), Number(d)]],
]

const timeForm = /^(\d{1,2}):(\d{1,2})(?::(\d{1,2})(?:\.(\d{1,6})\d*)?)? ?([ap]m)?(z|[+-]\d{2}:\d{2})?$/i

/** Parses a date, a time or both: `2026-03-01`, `3/1/2026`, `1-Mar-26`, `March 1, 2026`, `16:48:18`, `4:48 PM`, RFC 3339. Else null. */
export function parseDateText(text: string): DateText | null {
  const trimmed = text.length <= 64 ? text.trim() : ''
  for (const [pattern, read] of dateForms) {
    const found = pattern.exec(trimmed)
    if (found === null) continue
    const [year, month, date] = read(...found.slice(1))
    const day = dayOf(year, month, date)
    const rest = trimmed.slice(found[0].length)
    if (!isCalendarDay(day, month, date) || (year < 1900 && pattern !== dateForms[0]![0])) return null
    if (rest === '') return { day, micros: null }
    const micros = /^[T ]/i.test(rest) ? parseTime(rest.trimStart().replace(/^T/i, ''), true) : null
    return micros === null ? null : { day, micros }
  }
  const micros = parseTime(trimmed, false)
  return micros === null ? null : { day: null, micros }
}

const isCalendarDay = (day: number, month: number, date: number): boolean => {
  const found = toCivilDate(day)
  return found.month === month && found.date === date && found.year > 0
}

/** Parses a time to microseconds since midnight in UTC; null for any other text. */
function parseTime(text: string, mayHaveZone: boolean): number | null {
  const found = timeForm.exec(text)
  if (found === null) return null
  const [, hours, minutes, seconds = '0', fraction = '', half, zone] = found
  const hour = half === undefined ? Number(hours) : (Number(hours) % 12) + (half.toLowerCase() === 'pm' ? 12 : 0)
  const isClock = half === undefined ? hour < 24 : Number(hours) >= 1 && Number(hours) <= 12
  if (!isClock || Number(minutes) > 59 || Number(seconds) > 59 || (zone !== undefined && !mayHaveZone)) return null
  const total = (hour * 60 + Number(minutes) - zoneMinutes(zone)) * 60 + Number(seconds)
  return total * 1_000_000 + Number(fraction.padEnd(6, '0'))
}

function zoneMinutes(zone = 'z'): number {
  if (zone.toLowerCase() === 'z') return 0
  const minutes = Number(zone.slice(1, 3)) * 60 + Number(zone.slice(4, 6))
  return zone.startsWith('-') ? -minutes : minutes
}

/** The value of a parsed text: a moment with a day; for a time alone the fraction of a day, a number. */
export function valueOfDateText({ day, micros }: DateText): Moment | Decimal | ErrorValue {
  if (day === null) return micros === null ? errorValues.value : new Decimal(micros).div(microsPerDay)
  return micros === null ? dateValue(day) : instantAt(day, micros)
}
