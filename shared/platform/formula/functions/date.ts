import {
  defineEager,
  defineLazy,
  type FormulaFunction,
  type FunctionTable,
  type Parameter,
} from '#shared/platform/formula/functions/definition.ts'
import { any, moment, whole } from '#shared/platform/formula/functions/parameters.ts'
import { toMicros } from '#shared/platform/formula/values/coerce.ts'
import { parseDateText } from '#shared/platform/formula/values/date-text.ts'
import {
  addMonths,
  dateValue,
  dayOf,
  instantFromDate,
  microsPerDay,
  toCivilDate,
  weekdayOf,
} from '#shared/platform/formula/values/dates.ts'
import { type ErrorValue, errorValues, isError, isMoment, type Moment, type Value } from '#shared/platform/formula/values/value.ts'
import { Decimal } from '#shared/platform/kernel/values/decimal.ts'

const partOf = (doc: string, read: (day: number) => number): FormulaFunction =>
  defineEager({ takes: [moment('date')], doc, call: ({ day }) => new Decimal(read(day)) })

const clock: Parameter<number> = { label: 'time', read: toMicros }

const clockPart = (doc: string, secondsPerUnit: number, modulus: number): FormulaFunction =>
  defineEager({ takes: [clock], doc, call: (micros) => new Decimal(Math.floor(micros / (secondsPerUnit * 1_000_000)) % modulus) })

/** DATE. Years 0 to 1899 are offsets from 1900, as in spreadsheets. */
function date(year: number, month: number, day: number): Value {
  if (year < 0 || year > 9999) return errorValues.number
  return dateValue(dayOf(year < 1900 ? year + 1900 : year, month, day))
}

function time(hour: number, minute: number, second: number): Value {
  const seconds = (hour * 60 + minute) * 60 + second
  return seconds < 0 ? errorValues.number : new Decimal(seconds % 86_400).div(86_400)
}

/** Types of WEEKDAY: the first day of the week (0 is Sunday) and the number it gets. */
const weekdayTypes: ReadonlyMap<number, readonly [first: number, firstNumber: number]> = new Map<number, readonly [number, number]>([
  [1, [0, 1]],
  [2, [1, 1]],
  [3, [1, 0]],
  ...[1, 2, 3, 4, 5, 6, 0].map((first, index) => [11 + index, [first, 1]] as const),
])

function weekday({ day }: Moment, type = 1): Value {
  const [first, firstNumber] = weekdayTypes.get(type) ?? []
  return first === undefined || firstNumber === undefined
    ? errorValues.number
    : new Decimal(((weekdayOf(day) - first + 7) % 7) + firstNumber)
}

/** WEEKNUM: week 1 contains 1 January. Type 21 is the ISO week. */
function weekNumber({ day }: Moment, type = 1): Value {
  if (type === 21) return isoWeek(day)
  const [first] = type === 3 ? [] : (weekdayTypes.get(type) ?? [])
  if (first === undefined) return errorValues.number
  const newYear = dayOf(toCivilDate(day).year, 1, 1)
  return new Decimal(Math.floor((day - newYear + ((weekdayOf(newYear) - first + 7) % 7)) / 7) + 1)
}

/** The ISO 8601 week; it belongs to the year of its Thursday. */
function isoWeek(day: number): Decimal {
  const thursday = day + 4 - (weekdayOf(day) || 7)
  return new Decimal(Math.floor((thursday - dayOf(toCivilDate(thursday).year, 1, 1)) / 7) + 1)
}

/** DATEVALUE: the date in a text; 0 for a text with only a time. A date or instant gives its date. */
function dateOfText(value: Exclude<Value, ErrorValue>): Value {
  if (isMoment(value)) return dateValue(value.day)
  const found = typeof value === 'string' ? parseDateText(value) : null
  if (found === null) return errorValues.value
  return found.day === null ? new Decimal(0) : dateValue(found.day)
}

function timeOfText(value: Exclude<Value, ErrorValue>): Value {
  const micros = typeof value === 'string' && parseDateText(value) === null ? errorValues.value : toMicros(value)
  return isError(micros) ? micros : new Decimal(micros).div(microsPerDay)
}

/** Functions of dates and times. All times are UTC. */
export const dateFunctions: FunctionTable = {
  TODAY: defineLazy({
    usage: [],
    min: 0,
    max: 0,
    doc: 'The day of the write, in UTC.',
    call: (_, run) => dateValue(instantFromDate(run.now).day),
  }),
  NOW: defineLazy({ usage: [], min: 0, max: 0, doc: 'The time of the write.', call: (_, run) => instantFromDate(run.now) }),
  DATE: defineEager({
    takes: [whole('year'), whole('month'), whole('day')],
    doc: 'A date; months and days out of range carry over.',
    call: date,
  }),
  TIME: defineEager({ takes: [whole('hour'), whole('minute'), whole('second')], doc: 'A time as a part of the day.', call: time }),
  YEAR: partOf('The year of a date.', (day) => toCivilDate(day).year),
  MONTH: partOf('The month of a date, 1 to 12.', (day) => toCivilDate(day).month),
  DAY: partOf('The day of the month.', (day) => toCivilDate(day).date),
  HOUR: clockPart('The hour, 0 to 23.', 3_600, 24),
  MINUTE: clockPart('The minute, 0 to 59.', 60, 60),
  SECOND: clockPart('The second, 0 to 59.', 1, 60),
  WEEKDAY: defineEager({
    takes: [moment('date')],
    optional: [whole('type')],
    doc: 'The day of the week: 1 to 7 from Sunday; type 2: 1 to 7 from Monday; type 3: 0 to 6 from Monday; types 11 to 17: 1 to 7 from Monday to Sunday.',
    call: weekday,
  }),
  WEEKNUM: defineEager({
    takes: [moment('date')],
    optional: [whole('type')],
    doc: 'The week of the year; type 21 is the ISO week.',
    call: weekNumber,
  }),
  ISOWEEKNUM: partOf('The ISO 8601 week.', (day) => isoWeek(day).toNumber()),
  EDATE: defineEager({
    takes: [moment('date'), whole('months')],
    doc: 'The same day of the month some months later, or the last day of a shorter month.',
    call: ({ day }, months) => dateValue(addMonths(day, months)),
  }),
  EOMONTH: defineEager({
    takes: [moment('date'), whole('months')],
    doc: 'The last day of the month that is some months later.',
    call: ({ day }, months) => dateValue(dayOf(toCivilDate(day).year, toCivilDate(day).month + months + 1, 0)),
  }),
  DATEVALUE: defineEager({ takes: [any('text')], doc: 'The date in a text.', call: dateOfText }),
  TIMEVALUE: defineEager({ takes: [any('text')], doc: 'The time in a text, as a part of the day.', call: timeOfText }),
}
