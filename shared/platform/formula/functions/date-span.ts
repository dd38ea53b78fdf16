import { defineEager, type FunctionTable } from '#shared/platform/formula/functions/definition.ts'
import { moment, text, truth, whole } from '#shared/platform/formula/functions/parameters.ts'
import { dayOf, toCivilDate } from '#shared/platform/formula/values/dates.ts'
import { errorValues, type Moment, type Value } from '#shared/platform/formula/values/value.ts'
import { Decimal } from '#shared/platform/kernel/values/decimal.ts'

type Civil = ReturnType<typeof toCivilDate>

interface Span {
  readonly from: number
  readonly to: number
  readonly first: Civil
  readonly last: Civil
  readonly months: number
}

/** Counters for the units of DATEDIF. */
const units: ReadonlyMap<string, (span: Span) => number> = new Map([
  ['Y', ({ months }) => Math.floor(months / 12)],
  ['M', ({ months }) => months],
  ['D', ({ from, to }) => to - from],
  ['YM', ({ months }) => months % 12],
  ['MD', daysPastMonths],
  ['YD', daysPastYears],
])

function dateDifference({ day: from }: Moment, { day: to }: Moment, unit: string): Value {
  const count = units.get(unit.toUpperCase())
  if (count === undefined || from > to) return errorValues.number
  const [first, last] = [toCivilDate(from), toCivilDate(to)]
  const months = (last.year - first.year) * 12 + last.month - first.month - Number(last.date < first.date)
  return new Decimal(count({ from, to, first, last, months }))
}

/** Days since the last full month. It ended on the start's day of the month, or on the last day of a month that is too short for it. */
function daysPastMonths({ to, first, last }: Span): number {
  if (last.date >= first.date) return last.date - first.date
  const previous = Math.min(dayOf(last.year, last.month - 1, first.date), dayOf(last.year, last.month, 0))
  return to - previous
}

/** Days from the start to the next occurrence of the end's month and day, in the year of the start or the year after. */
function daysPastYears({ from, first, last }: Span): number {
  const inYear = dayOf(first.year, last.month, last.date)
  return (inYear >= from ? inYear : dayOf(first.year + 1, last.month, last.date)) - from
}

const isFebruaryEnd = ({ year, month, date }: Civil): boolean => month === 2 && date === toCivilDate(dayOf(year, 3, 0)).date

/** Days between two dates in a year of twelve months of 30 days, by the US or the European method. */
function days360(from: number, to: number, isEuropean: boolean): number {
  const [first, last] = [toCivilDate(from), toCivilDate(to)]
  const start = isEuropean || !isFebruaryEnd(first) ? Math.min(first.date, 30) : 30
  const bothFebruaryEnds = isFebruaryEnd(first) && isFebruaryEnd(last)
  const ends30 = last.date === 31 && (isEuropean || start === 30)
  const end = ends30 || (!isEuropean && bothFebruaryEnds) ? 30 : last.date
  return (last.year - first.year) * 360 + (last.month - first.month) * 30 + end - start
}

const isLeap = (year: number): boolean => toCivilDate(dayOf(year, 3, 0)).date === 29

/** Year length for the actual/actual basis: 365 or 366 for a span of up to a year, else the mean length of all years that it touches. */
function yearLength(from: number, to: number): number {
  const [first, last] = [toCivilDate(from), toCivilDate(to)]
  if (first.year === last.year) return isLeap(first.year) ? 366 : 365
  if (to <= dayOf(first.year + 1, first.month, first.date)) {
    const leapDays = [first.year, last.year].filter(isLeap).map((year) => dayOf(year, 2, 29))
    return leapDays.some((day) => from <= day && day <= to) ? 366 : 365
  }
  return (dayOf(last.year + 1, 1, 1) - dayOf(first.year, 1, 1)) / (last.year - first.year + 1)
}

/** Day count conventions of YEARFRAC by basis number. */
const bases: readonly ((from: number, to: number) => readonly [days: number, year: number])[] = [
  (from, to) => [days360(from, to, false), 360],
  (from, to) => [to - from, yearLength(from, to)],
  (from, to) => [to - from, 360],
  (from, to) => [to - from, 365],
  (from, to) => [days360(from, to, true), 360],
]

function yearFraction({ day: start }: Moment, { day: end }: Moment, basis = 0): Value {
  const count = bases[basis]
  if (count === undefined) return errorValues.number
  const [days, year] = count(Math.min(start, end), Math.max(start, end))
  return new Decimal(days).div(year)
}

const startAndEnd = [moment('start'), moment('end')] as const

/** Functions of the time between two dates. */
export const dateSpanFunctions: FunctionTable = {
  DATEDIF: defineEager({
    takes: [...startAndEnd, text('unit')],
    doc: 'Full years ("Y"), months ("M") or days ("D") between two dates; "YM" months beyond full years, "MD" days beyond full months, "YD" days beyond full years.',
    call: dateDifference,
  }),
  DAYS: defineEager({
    takes: [moment('end'), moment('start')],
    doc: 'Days from a start to an end.',
    call: (end, start) => new Decimal(end.day - start.day),
  }),
  DAYS360: defineEager({
    takes: startAndEnd,
    optional: [truth('european')],
    doc: 'Days between two dates in months of 30 days.',
    call: (start, end, european = false) => new Decimal(days360(start.day, end.day, european)),
  }),
  YEARFRAC: defineEager({
    takes: startAndEnd,
    optional: [whole('basis')],
    doc: 'Years between two dates, by basis: 30/360 (0), actual days (1), actual/360 (2), actual/365 (3), European 30/360 (4).',
    call: yearFraction,
  }),
}
