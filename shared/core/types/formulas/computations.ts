import { fieldKinds } from '#shared/core/types/field-kinds/field-kinds.ts'
import { isAccepted } from '#shared/core/types/field-kinds/value.ts'
import type { Field } from '#shared/core/types/fields/field.ts'
import type { FormulaBudget } from '#shared/platform/formula/evaluation.ts'
import { evaluationOrder } from '#shared/platform/formula/evaluation-order.ts'
import { toFieldValue } from '#shared/platform/formula/field-result.ts'
import { type CompiledFormula, compileFormula } from '#shared/platform/formula/formula.ts'
import { formulaLimits } from '#shared/platform/formula/limits.ts'
import type { Value } from '#shared/platform/formula/values/value.ts'
import { Problem, problem } from '#shared/platform/kernel/errors.ts'
import type { FieldValue } from '#shared/platform/kernel/field-type.ts'

/** The context of a computation. */
interface ComputeContext {
  /** The time of the write: the value of TODAY and NOW. */
  readonly now: Date
  readonly defaultCurrency: string
  /** The remaining budget of the computation. Beyond it the field stays empty, so that no record blocks its process. */
  readonly budget: FormulaBudget
  /** Yields to the event loop during a long formula. */
  readonly pause: () => Promise<void>
}

/** A computed field of a record type with its compiled formula. */
export interface Computation {
  readonly field: Field
  /**
   * Names in the formula that are not fields: unquoted texts, TRUE and FALSE. A new field with such a key would change the formula.
   */
  readonly words: ReadonlySet<string>
  /** Computes the field's value. `values` holds the record's other values and earlier computations. Null is no value. */
  readonly compute: (values: Readonly<Record<string, FieldValue>>, context: ComputeContext) => FieldValue | Promise<FieldValue>
}

/**
 * Compiles all formulas of a type and returns them in dependency order. Throws VALIDATION_ERROR for an invalid formula, with its position,
 * and for a cycle. Messages suggest only fields that `mayName` allows.
 */
export function compileComputations(
  fields: readonly Field[],
  mayName?: (key: string) => boolean,
): {
  computations: readonly Computation[]
  reads: ReadonlyMap<string, readonly string[]>
} {
  const computed = fields.filter(({ rules }) => rules.formula !== undefined)
  refuseLongFormulas(computed)
  const known = new Map(fields.map(({ key, type, rules }) => [key, rules.options ? { type, options: rules.options } : { type }]))
  const compiled = new Map(
    computed.map((field) => [field.key, compileFormula(field.rules.formula ?? '', { fields: known, target: field, mayName })]),
  )
  const reads = new Map([...compiled].map(([key, { dependencies }]) => [key, dependencies]))
  const byKey = new Map(computed.map((field) => [field.key, field]))
  const computations = evaluationOrder(reads).flatMap((key) => {
    const [field, formula] = [byKey.get(key), compiled.get(key)]
    return field && formula ? [createComputation(field, formula)] : []
  })
  return { computations, reads }
}

function refuseLongFormulas(computed: readonly Field[]): void {
  const length = computed.reduce((sum, { rules: { formula = '' } }) => sum + formula.length, 0)
  if (length <= formulaLimits.typeLength) return
  throw problem(
    'VALIDATION_ERROR',
    `formula: the formulas of a type hold at most ${formulaLimits.typeLength} characters together, got ${length}`,
  )
}

/**
 * Returns a type's fields and the computations of its computed fields. Adds `reads` to computed fields: the keys that their formulas read.
 * Formulas were checked when they were set. If one is invalid nevertheless, nothing is computed and each computed field counts as reading
 * every other, so that no hidden value is shown.
 */
export function compileStoredFormulas(fields: readonly Field[]): { fields: readonly Field[]; computations: readonly Computation[] } {
  if (fields.every(({ rules }) => rules.formula === undefined)) return { fields, computations: [] }
  try {
    const { computations, reads } = compileComputations(fields)
    return { fields: withReads(fields, (key) => reads.get(key) ?? []), computations }
  } catch (error) {
    if (!(error instanceof Problem)) throw error
    return { fields: withReads(fields, (key) => fields.map((field) => field.key).filter((other) => other !== key)), computations: [] }
  }
}

/** The fields, with what their formulas read. */
export const withReads = (fields: readonly Field[], readsOf: (key: string) => readonly string[]): readonly Field[] =>
  fields.map((field) => (field.rules.formula === undefined ? field : { ...field, reads: readsOf(field.key) }))

function createComputation(field: Field, formula: CompiledFormula): Computation {
  const { options } = field.rules
  const kind = fieldKinds[field.type]
  const valueFor = (result: Value, { defaultCurrency, budget }: ComputeContext): FieldValue => {
    const value = toFieldValue(result, { type: field.type, options, fits: (candidate) => fits(field, candidate, defaultCurrency) })
    if (typeof value === 'string' && value.length > budget.text) return null
    return value !== null && kind.columns.length > 1 ? { amount: value as string, code: field.rules.unit ?? defaultCurrency } : value
  }
  return {
    field,
    words: formula.words,
    compute(values, context) {
      const result = formula.evaluateInSlices({ get: (key) => values[key] }, context)
      return result instanceof Promise ? result.then((found) => valueFor(found, context)) : valueFor(result, context)
    },
  }
}

/** Whether a result is a valid value of the field: it has the type's form and follows the rules. */
function fits(field: Field, value: Exclude<FieldValue, null>, defaultCurrency: string): boolean {
  const kind = fieldKinds[field.type]
  return isAccepted(() => kind.check(kind.parse(value, field, { path: field.key, defaultCurrency }), field, field.key))
}
