import { compileNode, type FormulaField } from '#shared/platform/formula/compile.ts'
import {
  type Evaluate,
  type Evaluation,
  type FieldValues,
  type FormulaContext,
  sliceEnd,
  startEvaluation,
} from '#shared/platform/formula/evaluation.ts'
import { formulaLimits } from '#shared/platform/formula/limits.ts'
import { parseFormula } from '#shared/platform/formula/parse/parser.ts'
import { formulaProblem } from '#shared/platform/formula/problems.ts'
import { errorValues, type Value } from '#shared/platform/formula/values/value.ts'

/** Context of a check: the fields of the type by key, and the field that the formula computes. */
interface FormulaScope {
  readonly fields: ReadonlyMap<string, FormulaField>
  readonly target: { readonly key: string }
  /** Whether an error message may suggest this field or its options to the caller. Without it every field may be suggested. */
  readonly mayName?: ((key: string) => boolean) | undefined
}

/** A checked and compiled formula, usable for any record of its type. */
export interface CompiledFormula {
  /** Keys of the fields it reads, each once, in order of first mention. */
  readonly dependencies: readonly string[]
  /** Names that are not fields: bare words (unquoted texts), TRUE and FALSE. A new field with such a key would change the formula. */
  readonly words: ReadonlySet<string>
  /**
   * Evaluates the formula for a record. Never throws and is bounded in steps: failures are error values, which `toFieldValue` converts to
   * an empty field. `values` must already hold the computed fields that the formula reads (`evaluationOrder`).
   */
  readonly evaluate: (values: FieldValues, context: FormulaContext) => Value
  /** As `evaluate`, but pauses between slices: returns a promise when one slice is not enough. */
  readonly evaluateInSlices: (values: FieldValues, context: FormulaContext) => Value | Promise<Value>
}

/**
 * Checks a formula against the fields of its type and compiles it (docs/contract/types-and-fields.md#formulas). Throws VALIDATION_ERROR,
 * with a position where there is one, for a syntax error, an unknown field, function or option, a wrong number of arguments, a formula that
 * reads its own field, and a source over the limits.
 */
export function compileFormula(source: string, { fields, target, mayName }: FormulaScope): CompiledFormula {
  const slots = new Map<string, number>()
  const words = new Set<string>()
  const evaluate = compileNode(parseFormula(source), { fields, slots, words, mayName })
  const dependencies = [...slots.keys()]
  if (slots.has(target.key)) throw formulaProblem(`${target.key} reads itself: ${target.key} → ${target.key}`)
  const finish = (run: Evaluation, value: Value, { budget }: FormulaContext): Value => {
    if (budget) budget.steps = Math.max(run.steps, 0)
    return run.steps < 0 ? errorValues.limit : value
  }
  return {
    dependencies,
    words,
    evaluate(values, context) {
      const run = startEvaluation(values, context, dependencies.length)
      return finish(run, evaluate(run), context)
    },
    evaluateInSlices(values, context) {
      const run = startEvaluation(values, context, dependencies.length)
      const value = evaluateSlice(evaluate, run, formulaLimits.sliceSteps)
      if (value !== undefined) return finish(run, value, context)
      return evaluateRemainingSlices(evaluate, run, context).then((found) => finish(run, found, context))
    },
  }
}

/** Evaluates within one slice; undefined when the slice ended before the value was known. */
function evaluateSlice(evaluate: Evaluate, run: Evaluation, steps: number): Value | undefined {
  run.pauseAt = run.steps - steps
  try {
    return evaluate(run)
  } catch (error) {
    if (error !== sliceEnd) throw error
    return undefined
  }
}

/**
 * Evaluates slice by slice, with a pause before each slice. A slice reuses the results of earlier ones. A slice that adds no result doubles
 * the length of the next one.
 */
async function evaluateRemainingSlices(evaluate: Evaluate, run: Evaluation, { pause, budget }: FormulaContext): Promise<Value> {
  const known = new Map<Evaluate, Value>()
  // The first slice kept no results, so the evaluation restarts with the full budget.
  run.steps = budget?.steps ?? formulaLimits.steps
  run.known = known
  for (let steps: number = formulaLimits.sliceSteps; ; ) {
    await pause?.()
    const knownBefore = known.size
    const value = evaluateSlice(evaluate, run, steps)
    if (value !== undefined) return value
    steps = known.size > knownBefore ? formulaLimits.sliceSteps : 2 * steps
  }
}
