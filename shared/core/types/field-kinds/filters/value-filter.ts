import { lowerCase, lowerCaseSql } from '#shared/core/policy/conditions/letter-case.ts'
import {
  type Comparison,
  type ComparisonOperator,
  type KindFilter,
  type KindOperator,
  valueOperators,
} from '#shared/core/types/field-kinds/field-kind.ts'
import { findRareParts, type KnownTrigrams } from '#shared/core/types/field-kinds/filters/trigrams.ts'
import { invalidValueProblem } from '#shared/core/types/field-kinds/value-problem.ts'
import { builder, type Knex } from '#shared/platform/db/statements/builder.ts'
import { numeric, type SqlType, text as textType } from '#shared/platform/db/statements/sql-types.ts'
import type { FieldValue, Money } from '#shared/platform/kernel/field-type.ts'
import { Decimal, isDecimalText } from '#shared/platform/kernel/values/decimal.ts'
import { compareText } from '#shared/platform/kernel/values/text.ts'

/** The SQL of each comparison operator and the orders it accepts; `ne` is true for a row without a value. */
const comparisons: Readonly<Record<ComparisonOperator, readonly [sign: string, accepts: (order: number) => boolean]>> = {
  eq: ['=', (order) => order === 0],
  ne: ['is distinct from', (order) => order !== 0],
  gt: ['>', (order) => order > 0],
  gte: ['>=', (order) => order >= 0],
  lt: ['<', (order) => order < 0],
  lte: ['<=', (order) => order <= 0],
}

/** The SQL type of a comparison's operand, and its cast where PostgreSQL does not infer the type. */
interface OperandType {
  readonly type: SqlType<unknown, unknown>
  readonly cast?: string
}

/** A comparison with one operand. `order` compares a value with it and returns <0, 0 or >0. */
export function createComparison<V extends NonNullable<FieldValue>>(
  operator: KindOperator,
  operand: unknown,
  { type, cast = '' }: OperandType,
  order: (value: V) => number,
): Comparison {
  const [sign, accepts] = comparisons[operator as ComparisonOperator]
  return {
    sql: `?? ${sign} ?${cast}`,
    values: [operand],
    valueType: type,
    matches: handleNull(operator, (value: V) => accepts(order(value))),
  }
}

/** Wraps a predicate for missing values: of the comparisons null matches only `ne` (docs/contract/records.md#filters). */
const handleNull =
  <V extends NonNullable<FieldValue>>(operator: KindOperator, matches: (value: V) => boolean): Comparison['matches'] =>
  (value) =>
    value === null ? operator === 'ne' : matches(value as V)

/**
 * The condition that a text column contains `text`, case-insensitively and independent of the database's locale. Used by `q`, the operator
 * `contains` and access rules. LIKE can use a trigram index on the lowercase column; `%`, `_` and the backslash are escaped. With trigram
 * statistics the index is queried only for the parts of the text that have rare trigrams.
 */
export function containsText(text: string, known: KnownTrigrams = noStatistics): Comparison {
  const lowercase = lowerCase(text)
  const [whole, parts] = [likePattern([lowercase]), findRareParts(lowercase, known)]
  const matches = handleNull('contains', (value: string) => lowerCase(value).includes(lowercase))
  if (!parts) return { sql: `${searchedSql} like ?`, values: [whole], valueType: textType, matches }
  // The index reads all entries of each trigram that it is asked for: among a million addresses `person712345@` took 27 ms, `712345@` takes
  // 1 ms. So the first condition, which the index serves, has only the parts with rare trigrams. The second condition has the whole text
  // and decides the result; it has another collation, so that the index does not serve it. Two conditions also make the planner expect few
  // matches. It estimates from a hundred values: with one condition, when one of these values contained the text, it read a fifth of all
  // records to find 100 in a million.
  return {
    sql: `(${searchedSql} like ? and ${searchedSql} collate "C" like ?)`,
    values: [likePattern(parts), whole],
    valueType: textType,
    matches,
  }
}

const noStatistics: KnownTrigrams = { common: new Set(), frequent: new Set() }
const searchedSql = lowerCaseSql('??')

/** The LIKE pattern of a text that contains these parts in this order. */
const likePattern = (parts: readonly string[]): string => `%${parts.map(escapePattern).join('%')}%`
const escapePattern = (text: string): string => text.replace(/[\\%_]/g, '\\$&')

/** The expression that `contains` searches in a text column; a trigram index must be on the same expression. */
export const searchedTextSql = (column: string): Knex.Raw => builder.raw(searchedSql, [column])

/** The condition that a text begins with `text`, case-insensitively. The trigram index of `contains` serves it. */
function startsWithText(text: string): Comparison {
  const lowercase = lowerCase(text)
  return {
    sql: `${searchedSql} like ?`,
    values: [`${escapePattern(lowercase)}%`],
    valueType: textType,
    matches: handleNull('starts_with', (value: string) => lowerCase(value).startsWith(lowercase)),
  }
}

/** The opposite of a condition: it also holds for a row without a value. */
export const negate = (comparison: Comparison): Comparison => ({
  ...comparison,
  sql: `(${comparison.sql}) is not true`,
  matches: (value) => !comparison.matches(value),
})

/** Maximum code points of the text of `contains`, `not_contains` and `starts_with`. */
const maxSearchedLength = 1_000

function requireSearchable(text: string, path: string): void {
  const { length } = [...text]
  if (length > maxSearchedLength) throw invalidValueProblem(path, `at most ${maxSearchedLength} characters long`, length)
}

/** Filter of a choice among texts: `eq` and `ne` are exact, `contains` ignores letter case. */
export const choiceFilter: KindFilter = {
  operators: ['eq', 'ne', 'contains', ...valueOperators],
  defaultOperator: 'contains',
  emptySql: `(?? is null or ?? = '')`,
  read(operator, value, path, known) {
    if (operator !== 'eq' && operator !== 'ne') requireSearchable(value, path)
    if (operator === 'contains') return containsText(value, known)
    if (operator === 'not_contains') return negate(containsText(value, known))
    if (operator === 'starts_with') return startsWithText(value)
    return createComparison(operator, value, { type: textType }, (stored: string) => compareText(stored, value))
  },
}

/** Filter of text types. `starts_with` and `not_contains` ignore letter case as `contains` does. */
export const textFilter: KindFilter = {
  ...choiceFilter,
  operators: ['eq', 'ne', 'contains', 'not_contains', 'starts_with', ...valueOperators],
}

/** The operators of ordered types. */
export const orderedOperators: Pick<KindFilter, 'operators' | 'defaultOperator'> = {
  operators: ['eq', 'ne', 'gt', 'gte', 'lt', 'lte', ...valueOperators],
  defaultOperator: 'eq',
}

/** Filter of numbers and of currency amounts, by numeric value. */
export const amountFilter: KindFilter = {
  ...orderedOperators,
  keyOf: (value) => new Decimal(amountOf(value as string | Money)).toString(),
  read(operator, value, path) {
    if (!isDecimalText(value)) throw invalidValueProblem(path, 'a number', value)
    const operand = new Decimal(value)
    return createComparison(operator, value, { type: numeric, cast: '::numeric' }, (stored: string | Money) =>
      new Decimal(amountOf(stored)).cmp(operand),
    )
  },
}

const amountOf = (stored: string | Money): string => (typeof stored === 'string' ? stored : stored.amount)
