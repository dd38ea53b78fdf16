import { lowerCase } from '#shared/core/policy/conditions/letter-case.ts'
import type { View } from '#shared/core/policy/conditions/value-comparison.ts'
import type { Kind } from '#shared/core/policy/conditions/value-kinds.ts'
import { builder, type Knex } from '#shared/platform/db/statements/builder.ts'
import { isDecimalText } from '#shared/platform/kernel/values/decimal.ts'
import { isCleanText, numberText } from '#shared/platform/kernel/values/json.ts'

/** Result of a test. Undefined means that the two sides cannot be compared (document 1, Authentication, rule 6). */
export type Truth = boolean | undefined

/** An operator bound to a kind of value and an operand. SQL has null for undefined. Neither form is called for a missing value. */
export interface Forms {
  readonly holds: (value: unknown) => Truth
  readonly where: (column: Knex.Raw) => Knex.Raw
}

/** One operator of conditions (document 1, Policy rule). */
export interface Operator {
  /** Message for an invalid operand, to be put after its path; undefined for a valid one. */
  readonly refuse: (operand: unknown) => string | undefined
  /** Whether a missing value passes; also whether any value passes a missing operand, the id of a caller without one. */
  readonly passesMissing: boolean
  readonly bind: (kind: Kind, operand: unknown) => Forms
  /** The accepted values of a membership test. Several such tests of one value can be merged into one. */
  readonly among?: (operand: unknown) => readonly unknown[]
}

const isScalar = (operand: unknown): boolean =>
  typeof operand === 'boolean' || isNumber(numberText(operand)) || (typeof operand === 'string' && isCleanText(operand))

// JSON allows numbers that neither comparisons nor jsonb accept, such as 1e999999.
const numberLimit = 'a number has at most 400 characters and 3 digits of exponent'
const isNumber = (digits: string | undefined): boolean => digits !== undefined && isDecimalText(digits)

const explainScalar = (operand: unknown): string | undefined =>
  isScalar(operand) ? undefined : `must be text, a number, true or false; ${numberLimit}`
const explainScalarList = (operand: unknown): string | undefined =>
  Array.isArray(operand) && operand.every(isScalar) ? undefined : `must be a list of texts, numbers, true or false; ${numberLimit}`
const explainText = (operand: unknown): string | undefined =>
  typeof operand === 'string' && isCleanText(operand) ? undefined : 'must be text'

const scalarOperator = { refuse: explainScalar, passesMissing: false } as const
const ordering = (sign: string, holds: (order: number) => boolean): Operator => ({
  ...scalarOperator,
  bind: (kind, operand) => compare(kind, operand, sign, holds),
})

const listOf = (operand: unknown): readonly unknown[] => (Array.isArray(operand) ? operand : [])

/** All operators. Only `ne` and `nin` accept a missing value; only the ordering operators can return undefined. */
export const operators: ReadonlyMap<string, Operator> = new Map<string, Operator>([
  ['eq', { ...scalarOperator, bind: (kind, operand) => equalsAny(kind, [operand]), among: (operand) => [operand] }],
  ['ne', { ...scalarOperator, passesMissing: true, bind: (kind, operand) => not(equalsAny(kind, [operand])) }],
  ['gt', ordering('>', (order) => order > 0)],
  ['gte', ordering('>=', (order) => order >= 0)],
  ['lt', ordering('<', (order) => order < 0)],
  ['lte', ordering('<=', (order) => order <= 0)],
  ['in', { refuse: explainScalarList, passesMissing: false, bind: (kind, operand) => equalsAny(kind, listOf(operand)), among: listOf }],
  ['nin', { refuse: explainScalarList, passesMissing: true, bind: (kind, operand) => not(equalsAny(kind, listOf(operand))) }],
  ['contains', { refuse: explainText, passesMissing: false, bind: contains }],
])

const always = (outcome: boolean): Forms => ({ holds: () => outcome, where: () => builder.raw(String(outcome)) })

const not = ({ holds, where }: Forms): Forms => ({
  holds: (value) => !holds(value),
  where: (column) => builder.raw('not (?)', [where(column)]),
})

/** Tests whether a value equals one of the operands. Operands are grouped by the first comparison that accepts them: one lookup each. */
export function equalsAny({ equality }: Kind, operands: readonly unknown[]): Forms {
  const known = operands.flatMap((operand) => {
    const view = equality.find((one) => one.form(operand) !== undefined)
    return view ? [{ view, form: view.form(operand) }] : []
  })
  const groups = [...Map.groupBy(known, ({ view }) => view)].map(([view, all]) => ({ view, forms: new Set(all.map(({ form }) => form)) }))
  if (groups.length === 0) return always(false)
  return {
    holds: (value) => groups.some(({ view, forms }) => forms.has(view.form(value))),
    where: (column) =>
      anyOf(groups.map(({ view, forms }) => castSafely(view, column, equals(view, column, [...forms]), builder.raw('false')))),
  }
}

function equals(view: View, column: Knex.Raw, forms: readonly unknown[]): Knex.Raw {
  const [only, ...others] = forms as readonly Knex.Value[]
  if (only !== undefined && others.length === 0) return builder.raw(`? = ?::${view.cast}`, [view.column(column), only])
  return builder.raw(`? = any(?::${view.cast}[])`, [view.column(column), forms as Knex.Value])
}

/** The first comparison that accepts operand and value decides; if there is none, the sides cannot be compared. */
function compare({ ordering }: Kind, operand: unknown, sign: string, holds: (order: number) => boolean): Forms {
  const comparisons = ordering.flatMap((view) => {
    const order = view.against(operand)
    return order ? [{ view, order, parameter: view.form(operand) as Knex.Value }] : []
  })
  return {
    holds(value) {
      for (const { order } of comparisons) {
        const found = order(value)
        if (found !== undefined) return holds(found)
      }
      return undefined
    },
    where: (column) =>
      comparisons.reduceRight((otherwise, { view, parameter }) => {
        const test = builder.raw(`? ${sign} ?::${view.cast}`, [view.column(column), parameter])
        return castSafely(view, column, test, otherwise)
      }, builder.raw('null::boolean')),
  }
}

const castSafely = ({ guard }: View, column: Knex.Raw, test: Knex.Raw, otherwise: Knex.Raw): Knex.Raw =>
  guard ? builder.raw('case when ? then ? else ? end', [guard(column), test, otherwise]) : test

function contains({ search }: Kind, operand: unknown): Forms {
  if (search === null || typeof operand !== 'string') return always(false)
  const text = lowerCase(operand)
  return { holds: (value) => search.holds(value, text), where: (column) => search.where(column, text) }
}

const anyOf = (conditions: readonly Knex.Raw[]): Knex.Raw =>
  conditions.length === 1 && conditions[0] ? conditions[0] : builder.raw(`(${conditions.map(() => '?').join(' or ')})`, [...conditions])
