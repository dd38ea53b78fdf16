import { defineEager, type FunctionTable, type Parameter } from '#shared/platform/formula/functions/definition.ts'
import { moment, momentOrNone, whole } from '#shared/platform/formula/functions/parameters.ts'
import { toNumber } from '#shared/platform/formula/values/coerce.ts'
import { dateValue, firstCalendarDay, lastCalendarDay, weekdayOf } from '#shared/platform/formula/values/dates.ts'
import { type ErrorValue, errorValues, isError, type Moment, type Value } from '#shared/platform/formula/values/value.ts'
import { Decimal } from '#shared/platform/kernel/values/decimal.ts'

/** For each day of the week from Sunday, whether it is a working day. */
type Week = readonly boolean[]

const weekClosedOn = (...days: number[]): Week => Array.from({ length: 7 }, (_, day) => !days.includes(day))

const saturdayAndSunday = weekClosedOn(6, 0)

/**
 * Weekends by spreadsheet number: 1 is Saturday and Sunday, and each number up to 7 is a day later; 11 is Sunday only, and each number up
 * to 17 is a day later.
 */
const weekends: ReadonlyMap<number, Week> = new Map([
  ...Array.from({ length: 7 }, (_, index) => [index + 1, weekClosedOn((index + 6) % 7, index % 7)] as const),
  ...Array.from({ length: 7 }, (_, index) => [index + 11, weekClosedOn(index)] as const),
])

/** A weekend by its spreadsheet number, or as seven digits from Monday to Sunday, in which 1 is a day off. */
const weekend: Parameter<Week> = { label: 'weekend', read: readWeekend }

function readWeekend(value: Exclude<Value, ErrorValue>): Week | ErrorValue {
  if (value === null) return saturdayAndSunday
  if (typeof value === 'string' && value.length === 7) {
    if (!/^[01]{7}$/.test(value)) return errorValues.value
    return Array.from({ length: 7 }, (_, day) => value[(day + 6) % 7] === '0')
  }
  const number = toNumber(value)
  if (isError(number) || typeof value === 'string') return errorValues.value
  return weekends.get(number.trunc().toNumber()) ?? errorValues.number
}

/** Working days between a fixed Sunday and a day. Only differences of two results are meaningful. */
function workedBefore(day: number, week: Week): number {
  const weekday = weekdayOf(day)
  const worked = (days: Week): number => days.filter((isWorked) => isWorked).length
  return ((day - weekday) / 7) * worked(week) + worked(week.slice(0, weekday))
}

/** Working days from one day to a later one, both included. */
function workdays(from: number, to: number, week: Week, holidays: ReadonlySet<number>): number {
  let count = workedBefore(to + 1, week) - workedBefore(from, week)
  for (const day of holidays) if (day >= from && day <= to && week[weekdayOf(day)]) count -= 1
  return count
}

const daysOf = (moments: readonly (Moment | null)[]): Set<number> =>
  new Set(moments.filter((moment) => moment !== null).map(({ day }) => day))

function networkDays({ day: start }: Moment, { day: end }: Moment, week: Week, holidays: readonly (Moment | null)[]): Value {
  const count = workdays(Math.min(start, end), Math.max(start, end), week, daysOf(holidays))
  return new Decimal(start <= end ? count : -count)
}

/**
 * The day that is `distance` working days away. It is found by binary search over calendar days, since the number of working days never
 * decreases with the distance.
 */
function workday({ day: start }: Moment, distance: number, week: Week, holidays: readonly (Moment | null)[]): Value {
  if (distance === 0) return dateValue(start)
  const days = daysOf(holidays)
  const wanted = Math.abs(distance)
  const direction = Math.sign(distance)
  const passed = (offset: number): number =>
    direction > 0 ? workdays(start + 1, start + offset, week, days) : workdays(start - offset, start - 1, week, days)
  let far = direction > 0 ? lastCalendarDay - start : start - firstCalendarDay
  if (!week.includes(true)) return errorValues.value
  if (passed(far) < wanted) return errorValues.number
  for (let near = 0; near + 1 < far; ) {
    const middle = Math.floor((near + far) / 2)
    if (passed(middle) >= wanted) far = middle
    else near = middle
  }
  return dateValue(start + direction * far)
}

const startAndEnd = [moment('start'), moment('end')] as const
const startAndDays = [moment('start'), whole('days')] as const
const holidays = momentOrNone('holiday')

/** Functions that count working days. Holidays follow as further arguments. */
export const workdayFunctions: FunctionTable = {
  NETWORKDAYS: defineEager({
    takes: startAndEnd,
    rest: holidays,
    doc: 'Days from Monday to Friday between two dates, both included, without holidays.',
    call: (start, end, ...off) => networkDays(start, end, saturdayAndSunday, off),
  }),
  'NETWORKDAYS.INTL': defineEager({
    takes: startAndEnd,
    optional: [weekend],
    rest: holidays,
    doc: 'As NETWORKDAYS, with a weekend by its number (1 to 7, 11 to 17) or as "0000011", Monday first.',
    call: (start, end, week = saturdayAndSunday, ...off) => networkDays(start, end, week, off),
  }),
  WORKDAY: defineEager({
    takes: startAndDays,
    rest: holidays,
    doc: 'The date a number of working days later.',
    call: (start, days, ...off) => workday(start, days, saturdayAndSunday, off),
  }),
  'WORKDAY.INTL': defineEager({
    takes: startAndDays,
    optional: [weekend],
    rest: holidays,
    doc: 'As WORKDAY, with a weekend as in NETWORKDAYS.INTL.',
    call: (start, days, week = saturdayAndSunday, ...off) => workday(start, days, week, off),
  }),
}
