import { lowerCase } from '#shared/core/policy/conditions/letter-case.ts'
import type { ValueComparison } from '#shared/core/policy/conditions/value-comparison.ts'
import type { ValueKind } from '#shared/core/policy/conditions/value-kinds.ts'
import type { Knex } from '#shared/platform/db/statements/builder.ts'
import { joinSql, plainSql, type SqlText, sql, valueSql } from '#shared/platform/db/statements/sql-text.ts'
import { isDecimalText } from '#shared/platform/kernel/values/decimal.ts'
import { isCleanText, jsonNumberText } from '#shared/platform/kernel/values/json.ts'

/** Result of a test. Undefined means that the two sides cannot be compared (docs/contract/access.md#conditions). */
export type Truth = boolean | undefined

/** An operator bound to a kind of value and an operand. SQL has null for undefined. Neither form is called for a missing value. */
export interface BoundOperator {
  readonly test: (value: unknown) => Truth
  readonly toSql: (column: SqlText) => SqlText
}

/** One operator of conditions. */
export interface Operator {
  /** Message for an invalid operand, to be put after its path; undefined for a valid one. */
  readonly explainInvalid: (operand: unknown) => string | undefined
  /** Result of the test when the value is missing; also when the operand is: the `principal.id` of a caller that has no id. */
  readonly acceptsMissing: boolean
  readonly bind: (kind: ValueKind, operand: unknown) => BoundOperator
  /** The accepted values of a membership test. Several such tests of one value can be merged into one. */
  readonly among?: (operand: unknown) => readonly unknown[]
}

const isScalar = (operand: unknown): boolean =>
  typeof operand === 'boolean' || isNumber(jsonNumberText(operand)) || (typeof operand === 'string' && isCleanText(operand))

// JSON allows numbers that neither comparisons nor jsonb accept, such as 1e999999.
const numberLimit = 'a number has at most 400 characters and 3 digits of exponent'
const isNumber = (digits: string | undefined): boolean => digits !== undefined && isDecimalText(digits)

const explainScalar = (operand: unknown): string | undefined =>
  isScalar(operand) ? undefined : `must be text, a number, true or false; ${numberLimit}`
const explainScalarList = (operand: unknown): string | undefined =>
  Array.isArray(operand) && operand.every(isScalar) ? undefined : `must be a list of texts, numbers, true or false; ${numberLimit}`
const explainText = (operand: unknown): string | undefined =>
  typeof operand === 'string' && isCleanText(operand) ? undefined : 'must be text'

const scalarOperator = { explainInvalid: explainScalar, acceptsMissing: false } as const
const ordering = (sign: string, holds: (order: number) => boolean): Operator => ({
  ...scalarOperator,
  bind: (kind, operand) => compare(kind, operand, plainSql(sign), holds),
})

const listOf = (operand: unknown): readonly unknown[] => (Array.isArray(operand) ? operand : [])

/** All operators. Only `ne` and `nin` accept a missing value; only the ordering operators can return undefined. */
export const operators: ReadonlyMap<string, Operator> = new Map<string, Operator>([
  ['eq', { ...scalarOperator, bind: (kind, operand) => equalsAny(kind, [operand]), among: (operand) => [operand] }],
  ['ne', { ...scalarOperator, acceptsMissing: true, bind: (kind, operand) => not(equalsAny(kind, [operand])) }],
  ['gt', ordering('>', (order) => order > 0)],
  ['gte', ordering('>=', (order) => order >= 0)],
  ['lt', ordering('<', (order) => order < 0)],
  ['lte', ordering('<=', (order) => order <= 0)],
  [
    'in',
    { explainInvalid: explainScalarList, acceptsMissing: false, bind: (kind, operand) => equalsAny(kind, listOf(operand)), among: listOf },
  ],
  ['nin', { explainInvalid: explainScalarList, acceptsMissing: true, bind: (kind, operand) => not(equalsAny(kind, listOf(operand))) }],
  ['contains', { explainInvalid: explainText, acceptsMissing: false, bind: contains }],
])

const always = (outcome: boolean): BoundOperator => ({ test: () => outcome, toSql: () => plainSql(String(outcome)) })

const not = ({ test, toSql }: BoundOperator): BoundOperator => ({
  test: (value) => !test(value),
  toSql: (column) => sql`not (${toSql(column)})`,
})

/**
 * Tests whether a value equals one of the operands. Operands are grouped by the first comparison that accepts them; each group takes one
 * lookup.
 */
export function equalsAny({ equality }: ValueKind, operands: readonly unknown[]): BoundOperator {
  const known = operands.flatMap((operand) => {
    const view = equality.find((one) => one.normalize(operand) !== undefined)
    return view ? [{ view, form: view.normalize(operand) }] : []
  })
  const groups = [...Map.groupBy(known, ({ view }) => view)].map(([view, all]) => ({ view, forms: new Set(all.map(({ form }) => form)) }))
  if (groups.length === 0) return always(false)
  return {
    test: (value) => groups.some(({ view, forms }) => forms.has(view.normalize(value))),
    toSql: (column) =>
      joinSql(
        groups.map(({ view, forms }) => castSafely(view, column, equals(view, column, [...forms]), plainSql('false'))),
        'or',
      ),
  }
}

function equals({ columnSql, sqlType }: ValueComparison, column: SqlText, forms: readonly unknown[]): SqlText {
  const [only, ...others] = forms as readonly Knex.Value[]
  if (only !== undefined && others.length === 0) return sql`${columnSql(column)} = ${valueSql(only)}::${sqlType}`
  return sql`${columnSql(column)} = any(${valueSql(forms as readonly Knex.Value[])}::${sqlType}[])`
}

/** The first comparison that accepts operand and value decides; if there is none, the sides cannot be compared. */
function compare({ ordering }: ValueKind, operand: unknown, sign: SqlText, holds: (order: number) => boolean): BoundOperator {
  const comparisons = ordering.flatMap((view) => {
    const order = view.compareWith(operand)
    return order ? [{ view, order, parameter: view.normalize(operand) as Knex.Value }] : []
  })
  return {
    test(value) {
      for (const { order } of comparisons) {
        const found = order(value)
        if (found !== undefined) return holds(found)
      }
      return undefined
    },
    toSql: (column) =>
      comparisons.reduceRight((otherwise, { view, parameter }) => {
        const test = sql`${view.columnSql(column)} ${sign} ${valueSql(parameter)}::${view.sqlType}`
        return castSafely(view, column, test, otherwise)
      }, plainSql('null::boolean')),
  }
}

const castSafely = ({ canCastSql }: ValueComparison, column: SqlText, test: SqlText, otherwise: SqlText): SqlText =>
  canCastSql ? sql`case when ${canCastSql(column)} then ${test} else ${otherwise} end` : test

function contains({ search }: ValueKind, operand: unknown): BoundOperator {
  if (search === null || typeof operand !== 'string') return always(false)
  const text = lowerCase(operand)
  return { test: (value) => search.holds(value, text), toSql: (column) => search.where(column, text) }
}
