import { dayAfter, isDay, utcInstant } from '#shared/kernel/instant.ts'
import { comparisons, ordered } from '#shared/types/fields/filter.ts'
import type { Comparison, KindFilter } from '#shared/types/fields/kind.ts'
import { refusal } from '#shared/types/fields/refuse.ts'

type Comparing = keyof typeof comparisons

/** How each operator compares an instant with a UTC day, from `start` up to `next` (decisions, Records, types, fields). */
const againstDay: Readonly<Record<Comparing, (start: string, next: string) => Comparison>> = {
  eq: (start, next) => ({ sql: '(?? >= ?::timestamptz and ?? < ?::timestamptz)', values: [start, next] }),
  ne: (start, next) => ({ sql: '(?? is null or ?? < ?::timestamptz or ?? >= ?::timestamptz)', values: [start, next] }),
  gt: (_start, next) => ({ sql: '?? >= ?::timestamptz', values: [next] }),
  gte: (start) => ({ sql: '?? >= ?::timestamptz', values: [start] }),
  lt: (start) => ({ sql: '?? < ?::timestamptz', values: [start] }),
  lte: (_start, next) => ({ sql: '?? < ?::timestamptz', values: [next] }),
}

const rule = 'a date as YYYY-MM-DD or an instant as RFC 3339 writes it'

/** Filters of instants: with an instant exactly, with a date by that whole UTC day. */
export const instantFilter: KindFilter = {
  ...ordered,
  read(operator, value, path) {
    if (isDay(value)) return againstDay[operator as Comparing](`${value}T00:00:00Z`, `${dayAfter(value)}T00:00:00Z`)
    const instant = utcInstant(value)
    if (instant === undefined) throw refusal(path, rule, value)
    return { sql: `?? ${comparisons[operator as Comparing]} ?::timestamptz`, values: [instant] }
  },
}

/** Filters of dates: an instant stands for its UTC day, the mirror of what a date means against an instant. */
export const dayFilter: KindFilter = {
  ...ordered,
  read(operator, value, path) {
    const day = isDay(value) ? value : utcInstant(value)?.slice(0, 10)
    if (day === undefined) throw refusal(path, rule, value)
    return { sql: `?? ${comparisons[operator as Comparing]} ?::date`, values: [day] }
  },
}
