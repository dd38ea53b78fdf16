import { lowerCase, lowerCaseSql } from '#shared/core/policy/conditions/letter-case.ts'
import type { Comparison, FilterOperator, KindFilter } from '#shared/core/types/field-kinds/field-kind.ts'
import { findRareParts, type KnownTrigrams } from '#shared/core/types/field-kinds/filters/trigrams.ts'
import { invalidValueProblem } from '#shared/core/types/field-kinds/value-problem.ts'
import { builder, type Knex } from '#shared/platform/db/statements/builder.ts'
import type { FieldValue, Money } from '#shared/platform/kernel/field-type.ts'
import { Decimal, isDecimalText } from '#shared/platform/kernel/values/decimal.ts'

/** The SQL of the operators that compare, and what of an order they take; `ne` is true for a row without a value. */
const comparisons: Readonly<Record<Exclude<FilterOperator, 'contains'>, readonly [sign: string, takes: (order: number) => boolean]>> = {
  eq: ['=', (order) => order === 0],
  ne: ['is distinct from', (order) => order !== 0],
  gt: ['>', (order) => order > 0],
  gte: ['>=', (order) => order >= 0],
  lt: ['<', (order) => order < 0],
  lte: ['<=', (order) => order <= 0],
}

/** A comparison with one operand: `cast` is what SQL makes of it, `order` how a value stands to it, below, at or above 0. */
export function createComparison<V extends NonNullable<FieldValue>>(
  operator: FilterOperator,
  operand: unknown,
  cast: string,
  order: (value: V) => number,
): Comparison {
  const [sign, takes] = comparisons[operator as keyof typeof comparisons]
  return { sql: `?? ${sign} ?${cast}`, values: [operand], matches: handleNull(operator, (value: V) => takes(order(value))) }
}

/** What an operator finds in memory; a missing value meets `ne` alone (decisions, Records, types, fields). */
export const handleNull =
  <V extends NonNullable<FieldValue>>(operator: FilterOperator, holds: (value: V) => boolean): Comparison['matches'] =>
  (value) =>
    value === null ? operator === 'ne' : holds(value as V)

/** Texts of one form, such as days, in the order of their code units. */
export const compareText = (first: string, second: string): number => (first < second ? -1 : first > second ? 1 : 0)

/**
 * The condition that a text column holds `text` anywhere, letter case aside, as rules mean it too, whatever the database's own locale;
 * `q` and the operator `contains` both mean this. LIKE, because a trigram index on the column's small letters serves it; `%`, `_` and the
 * backslash stand for themselves. Where it is known what trigrams many values have, the index is asked for the rest of a text with rare ones.
 */
export function containsText(text: string, known: KnownTrigrams = nothingKnown): Comparison {
  const small = lowerCase(text)
  const [whole, parts] = [anywhere([small]), findRareParts(small, known)]
  const holds = handleNull('contains', (value: string) => lowerCase(value).includes(small))
  if (!parts) return { sql: `${searchedSql} like ?`, values: [whole], matches: holds }
  // The index goes through all that is kept of each trigram: `person712345@` among a million addresses took 27 ms, `712345@` takes 1. It
  // knows no other collation than its own, so it is not asked for the whole; of text the two mean the same. With two conditions the planner
  // expects few to match, where it goes by a hundred values: if one of those had the text, it read a fifth of all records for 100 in a million.
  return { sql: `(${searchedSql} like ? and ${searchedSql} collate "C" like ?)`, values: [anywhere(parts), whole], matches: holds }
}

const nothingKnown: KnownTrigrams = { common: new Set(), frequent: new Set() }
const searchedSql = lowerCaseSql('??')

/** The pattern of a text that has these parts in this order. */
const anywhere = (parts: readonly string[]): string => `%${parts.map((part) => part.replace(/[\\%_]/g, '\\$&')).join('%')}%`

/** What of a text column `contains` looks into: a trigram index must be of the same expression. */
export const searchedTextSql = (column: string): Knex.Raw => builder.raw(searchedSql, [column])

/** Filters of the types that are text: `eq` and `ne` exact, `contains` without regard to letter case. */
export const textFilter: KindFilter = {
  operators: ['eq', 'ne', 'contains'],
  defaultOperator: 'contains',
  read: (operator, value, _path, known) =>
    operator === 'contains'
      ? containsText(value, known)
      : createComparison(operator, value, '', (held: string) => compareText(held, value)),
}

/** The operators of the types that have an order. */
export const orderedOperators: Pick<KindFilter, 'operators' | 'defaultOperator'> = {
  operators: ['eq', 'ne', 'gt', 'gte', 'lt', 'lte'],
  defaultOperator: 'eq',
}

/** Filters of numbers and of a currency's amount, by value. */
export const amountFilter: KindFilter = {
  ...orderedOperators,
  read(operator, value, path) {
    if (!isDecimalText(value)) throw invalidValueProblem(path, 'a number', value)
    const operand = new Decimal(value)
    return createComparison(operator, value, '::numeric', (held: string | Money) => new Decimal(amountOf(held)).cmp(operand))
  },
}

const amountOf = (held: string | Money): string => (typeof held === 'string' ? held : held.amount)
