import { builder, type Knex } from '#shared/db/builder.ts'
import { isDecimalText } from '#shared/kernel/decimal.ts'
import { isCleanText, numberText } from '#shared/kernel/json.ts'
import type { View } from '#shared/policy/comparison.ts'
import type { Kind } from '#shared/policy/kinds.ts'
import { lowerCase } from '#shared/policy/letter-case.ts'

/** What a test comes to: undefined is the third outcome, two sides that cannot be compared (document 1, Authentication, rule 6). */
export type Truth = boolean | undefined

/** A test of one kind of value with its operand, in both forms. In SQL the third outcome is null. Neither form is asked about a missing value. */
export interface Forms {
  readonly holds: (value: unknown) => Truth
  readonly where: (column: Knex.Raw) => Knex.Raw
}

/** One test that a condition can make (document 1, Policy rule). */
export interface Operator {
  /** What is wrong with an operand, to read after its path; undefined when it will do. */
  readonly refuse: (operand: unknown) => string | undefined
  /** Whether a missing value passes, and also whether any value passes when the operand is missing: the id of a caller without one. */
  readonly passesMissing: boolean
  readonly bind: (kind: Kind, operand: unknown) => Forms
  /** Of a test for one of some values: those. Several of them on one value are one such test. */
  readonly among?: (operand: unknown) => readonly unknown[]
}

const isScalar = (operand: unknown): boolean =>
  typeof operand === 'boolean' || isNumber(numberText(operand)) || (typeof operand === 'string' && isCleanText(operand))

// JSON writes numbers that no comparison and no jsonb knows, such as 1e999999.
const numberLimit = 'a number has at most 400 characters and 3 digits of exponent'
const isNumber = (digits: string | undefined): boolean => digits !== undefined && isDecimalText(digits)

const scalar = (operand: unknown): string | undefined =>
  isScalar(operand) ? undefined : `must be text, a number, true or false; ${numberLimit}`
const listOfScalars = (operand: unknown): string | undefined =>
  Array.isArray(operand) && operand.every(isScalar) ? undefined : `must be a list of texts, numbers, true or false; ${numberLimit}`
const someText = (operand: unknown): string | undefined =>
  typeof operand === 'string' && isCleanText(operand) ? undefined : 'must be text'

const itself = { refuse: scalar, passesMissing: false } as const
const ordering = (sign: string, holds: (order: number) => boolean): Operator => ({
  ...itself,
  bind: (kind, operand) => compare(kind, operand, sign, holds),
})

const listOf = (operand: unknown): readonly unknown[] => (Array.isArray(operand) ? operand : [])

/** Every operator with both its forms. `ne` and `nin` alone pass a missing value; only the ordering tests can find two sides not comparable. */
export const operators: ReadonlyMap<string, Operator> = new Map<string, Operator>([
  ['eq', { ...itself, bind: (kind, operand) => equalsAny(kind, [operand]), among: (operand) => [operand] }],
  ['ne', { ...itself, passesMissing: true, bind: (kind, operand) => not(equalsAny(kind, [operand])) }],
  ['gt', ordering('>', (order) => order > 0)],
  ['gte', ordering('>=', (order) => order >= 0)],
  ['lt', ordering('<', (order) => order < 0)],
  ['lte', ordering('<=', (order) => order <= 0)],
  ['in', { refuse: listOfScalars, passesMissing: false, bind: (kind, operand) => equalsAny(kind, listOf(operand)), among: listOf }],
  ['nin', { refuse: listOfScalars, passesMissing: true, bind: (kind, operand) => not(equalsAny(kind, listOf(operand))) }],
  ['contains', { refuse: someText, passesMissing: false, bind: contains }],
])

const always = (outcome: boolean): Forms => ({ holds: () => outcome, where: () => builder.raw(String(outcome)) })

const not = ({ holds, where }: Forms): Forms => ({
  holds: (value) => !holds(value),
  where: (column) => builder.raw('not (?)', [where(column)]),
})

/** Whether the value equals one of the operands: for every view one look-up among the operands that it is the first to know. */
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
      anyOf(groups.map(({ view, forms }) => guarded(view, column, equals(view, column, [...forms]), builder.raw('false')))),
  }
}

function equals(view: View, column: Knex.Raw, forms: readonly unknown[]): Knex.Raw {
  const [only, ...others] = forms as readonly Knex.Value[]
  if (only !== undefined && others.length === 0) return builder.raw(`? = ?::${view.cast}`, [view.column(column), only])
  return builder.raw(`? = any(?::${view.cast}[])`, [view.column(column), forms as Knex.Value])
}

/** The first view that knows operand and value decides; where none is left the sides cannot be compared. */
function compare({ ordering }: Kind, operand: unknown, sign: string, holds: (order: number) => boolean): Forms {
  const ways = ordering.flatMap((view) => {
    const order = view.against(operand)
    return order ? [{ view, order, parameter: view.form(operand) as Knex.Value }] : []
  })
  return {
    holds(value) {
      for (const { order } of ways) {
        const found = order(value)
        if (found !== undefined) return holds(found)
      }
      return undefined
    },
    where: (column) =>
      ways.reduceRight((otherwise, { view, parameter }) => {
        const test = builder.raw(`? ${sign} ?::${view.cast}`, [view.column(column), parameter])
        return guarded(view, column, test, otherwise)
      }, builder.raw('null::boolean')),
  }
}

const guarded = ({ guard }: View, column: Knex.Raw, test: Knex.Raw, otherwise: Knex.Raw): Knex.Raw =>
  guard ? builder.raw('case when ? then ? else ? end', [guard(column), test, otherwise]) : test

function contains({ search }: Kind, operand: unknown): Forms {
  if (search === null || typeof operand !== 'string') return always(false)
  const text = lowerCase(operand)
  return { holds: (value) => search.holds(value, text), where: (column) => search.where(column, text) }
}

const anyOf = (conditions: readonly Knex.Raw[]): Knex.Raw =>
  conditions.length === 1 && conditions[0] ? conditions[0] : builder.raw(`(${conditions.map(() => '?').join(' or ')})`, [...conditions])
