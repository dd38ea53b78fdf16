import type { Comparison, FilterOperator, KindFilter } from '#shared/core/types/field-kinds/field-kind.ts'
import { compareText, createComparison, orderedOperators } from '#shared/core/types/field-kinds/filters/value-filter.ts'
import { invalidValueProblem } from '#shared/core/types/field-kinds/value-problem.ts'
import { isDay, nextDay, toUtcInstant } from '#shared/platform/kernel/time/instant.ts'

type Comparing = Exclude<FilterOperator, 'contains'>

/** How each operator compares an instant with a UTC day, from `start` up to `next` (decisions, Records, types, fields). */
const againstDay: Readonly<Record<Comparing, (start: string, next: string) => Omit<Comparison, 'matches'>>> = {
  eq: (start, next) => ({ sql: '(?? >= ?::timestamptz and ?? < ?::timestamptz)', values: [start, next] }),
  ne: (start, next) => ({ sql: '(?? is null or ?? < ?::timestamptz or ?? >= ?::timestamptz)', values: [start, next] }),
  gt: (_start, next) => ({ sql: '?? >= ?::timestamptz', values: [next] }),
  gte: (start) => ({ sql: '?? >= ?::timestamptz', values: [start] }),
  lt: (start) => ({ sql: '?? < ?::timestamptz', values: [start] }),
  lte: (_start, next) => ({ sql: '?? < ?::timestamptz', values: [next] }),
}

const rule = 'a date as YYYY-MM-DD or an instant as RFC 3339 writes it'

const dayOf = (instant: string): string => instant.slice(0, 10)

/** Filters of instants: with an instant exactly, with a date by that whole UTC day. */
export const instantFilter: KindFilter = {
  ...orderedOperators,
  read(operator, value, path) {
    if (isDay(value)) {
      const made = againstDay[operator as Comparing](`${value}T00:00:00Z`, `${nextDay(value)}T00:00:00Z`)
      const { matches } = createComparison(operator, value, '', (held: string) => compareText(dayOf(held), value))
      return { ...made, matches }
    }
    const instant = toUtcInstant(value)
    if (instant === undefined) throw invalidValueProblem(path, rule, value)
    return createComparison(operator, instant, '::timestamptz', (held: string) => compareText(held, instant))
  },
}

/** Filters of dates: an instant stands for its UTC day, the mirror of what a date means against an instant. */
export const dayFilter: KindFilter = {
  ...orderedOperators,
  read(operator, value, path) {
    const instant = isDay(value) ? value : toUtcInstant(value)
    if (instant === undefined) throw invalidValueProblem(path, rule, value)
    const day = dayOf(instant)
    return createComparison(operator, day, '::date', (held: string) => compareText(held, day))
  },
}
