import { builder, type Knex } from '#shared/db/builder.ts'
import { dayAfter, isDay, utcInstant } from '#shared/kernel/instant.ts'
import { comparisons, ordered } from '#shared/types/fields/filter.ts'
import type { KindFilter } from '#shared/types/fields/kind.ts'
import { refusal } from '#shared/types/fields/refuse.ts'

type Comparison = keyof typeof comparisons

/** How each operator compares an instant with a UTC day, from `start` up to `next` (decisions, Records, types, fields). */
const againstDay: Readonly<Record<Comparison, (column: string, start: string, next: string) => Knex.Raw>> = {
  eq: (column, start, next) => builder.raw('(?? >= ?::timestamptz and ?? < ?::timestamptz)', [column, start, column, next]),
  ne: (column, start, next) =>
    builder.raw('(?? is null or ?? < ?::timestamptz or ?? >= ?::timestamptz)', [column, column, start, column, next]),
  gt: (column, _start, next) => builder.raw('?? >= ?::timestamptz', [column, next]),
  gte: (column, start) => builder.raw('?? >= ?::timestamptz', [column, start]),
  lt: (column, start) => builder.raw('?? < ?::timestamptz', [column, start]),
  lte: (column, _start, next) => builder.raw('?? < ?::timestamptz', [column, next]),
}

const rule = 'a date as YYYY-MM-DD or an instant as RFC 3339 writes it'

/** Filters of instants: with an instant exactly, with a date by that whole UTC day. */
export const instantFilter: KindFilter = {
  ...ordered,
  where({ column }, operator, value, path) {
    if (isDay(value)) return againstDay[operator as Comparison](column, `${value}T00:00:00Z`, `${dayAfter(value)}T00:00:00Z`)
    const instant = utcInstant(value)
    if (instant === undefined) throw refusal(path, rule, value)
    return builder.raw(`?? ${comparisons[operator as Comparison]} ?::timestamptz`, [column, instant])
  },
}

/** Filters of dates: an instant stands for its UTC day, the mirror of what a date means against an instant. */
export const dayFilter: KindFilter = {
  ...ordered,
  where({ column }, operator, value, path) {
    const day = isDay(value) ? value : utcInstant(value)?.slice(0, 10)
    if (day === undefined) throw refusal(path, rule, value)
    return builder.raw(`?? ${comparisons[operator as Comparison]} ?::date`, [column, day])
  },
}
