import {
  type Comparison,
  type ComparisonOperator,
  type FieldKind,
  type KindFilter,
  plainKind,
  readFirstCell,
} from '#shared/core/types/field-kinds/field-kind.ts'
import { createComparison, orderedOperators } from '#shared/core/types/field-kinds/filters/value-filter.ts'
import { invalidValueProblem } from '#shared/core/types/field-kinds/value-problem.ts'
import { date, instant } from '#shared/platform/db/statements/sql-types.ts'
import { isDay, nextDay, toUtcInstant } from '#shared/platform/kernel/time/instant.ts'
import { compareText } from '#shared/platform/kernel/values/text.ts'

/**
 * Each operator's comparison of an instant with a UTC day, which begins at `start` and ends before `next`
 * (docs/contract/records.md#filters).
 */
const compareWithDay: Readonly<Record<ComparisonOperator, (start: string, next: string) => Pick<Comparison, 'sql' | 'values'>>> = {
  eq: (start, next) => ({ sql: '(?? >= ?::timestamptz and ?? < ?::timestamptz)', values: [start, next] }),
  ne: (start, next) => ({ sql: '(?? is null or ?? < ?::timestamptz or ?? >= ?::timestamptz)', values: [start, next] }),
  gt: (_start, next) => ({ sql: '?? >= ?::timestamptz', values: [next] }),
  gte: (start) => ({ sql: '?? >= ?::timestamptz', values: [start] }),
  lt: (start) => ({ sql: '?? < ?::timestamptz', values: [start] }),
  lte: (_start, next) => ({ sql: '?? < ?::timestamptz', values: [next] }),
}

const rule = 'a date as YYYY-MM-DD or an instant as RFC 3339 writes it'

const dayOf = (moment: string): string => moment.slice(0, 10)

const instantOperand = { type: instant, cast: '::timestamptz' }

/** Filter of instants: an instant operand is compared exactly, a date operand is the whole UTC day. */
export const instantFilter: KindFilter = {
  ...orderedOperators,
  read(operator, value, path) {
    if (isDay(value)) {
      const condition = compareWithDay[operator as ComparisonOperator](`${value}T00:00:00Z`, `${nextDay(value)}T00:00:00Z`)
      const { matches } = createComparison(operator, value, instantOperand, (stored: string) => compareText(dayOf(stored), value))
      return { ...condition, valueType: instant, matches }
    }
    const moment = toUtcInstant(value)
    if (moment === undefined) throw invalidValueProblem(path, rule, value)
    return createComparison(operator, moment, instantOperand, (stored: string) => compareText(stored, moment))
  },
}

/** Filter of dates: an instant operand is reduced to its UTC day, as the instant filter treats dates. */
const dayFilter: KindFilter = {
  ...orderedOperators,
  read(operator, value, path) {
    const moment = isDay(value) ? value : toUtcInstant(value)
    if (moment === undefined) throw invalidValueProblem(path, rule, value)
    const day = dayOf(moment)
    return createComparison(operator, day, { type: date, cast: '::date' }, (stored: string) => compareText(stored, day))
  },
}

/** A calendar day, YYYY-MM-DD. */
export const dateKind: FieldKind<string> = {
  ...plainKind,
  type: 'date',
  columns: ['date'],
  filter: dayFilter,
  parse(input, _field, { path }) {
    if (typeof input !== 'string' || !isDay(input)) throw invalidValueProblem(path, 'a date as YYYY-MM-DD', input)
    return input
  },
  fromColumns: readFirstCell,
  toCell: (value) => value,
}

/** An instant, stored in UTC with microsecond precision. */
export const datetimeKind: FieldKind<string> = {
  ...plainKind,
  type: 'datetime',
  columns: ['timestamptz'],
  filter: instantFilter,
  parse(input, _field, { path }) {
    const value = typeof input === 'string' ? toUtcInstant(input) : undefined
    if (value === undefined) throw invalidValueProblem(path, 'a date and time as RFC 3339 writes it, such as 2026-01-31T09:30:00Z', input)
    return value
  },
  fromColumns: readFirstCell,
  toCell: (value) => value,
}
