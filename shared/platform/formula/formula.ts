import { parseFormula } from '#shared/platform/formula/parse/parser.ts'
import { errorValues, type Value } from '#shared/platform/formula/values/value.ts'
import { compileNode, type FormulaField } from './compile.ts'
import { type Evaluate, type Evaluation, type FieldValues, type FormulaContext, sliceEnd, startEvaluation } from './evaluation.ts'
import { formulaLimits } from './limits.ts'
import { formulaProblem } from './problems.ts'

/** What a formula is checked against: the fields of its type by key, and the field that it computes. */
export interface FormulaScope {
  readonly fields: ReadonlyMap<string, FormulaField>
  readonly target: { readonly key: string }
  /** Whether a message may suggest a field, or its options, to the caller; all where it is left out. */
  readonly mayName?: ((key: string) => boolean) | undefined
}

/** A formula that has been checked, ready for any record of its type. */
export interface CompiledFormula {
  /** Keys of the fields that it reads, each once, in the order of their first mention. */
  readonly dependencies: readonly string[]
  /** Bare words that it holds, TRUE and FALSE among them: a field of such a name would change what it means. */
  readonly words: ReadonlySet<string>
  /**
   * The formula's value for a record. Never throws and always ends soon: what cannot be evaluated is an error value, which
   * `toFieldValue` makes an empty field. Other computed fields must stand in `values` already (`evaluationOrder`).
   */
  readonly evaluate: (values: FieldValues, context: FormulaContext) => Value
  /** The same for a context that pauses: a promise where one slice of the thread is not enough. */
  readonly evaluateInSlices: (values: FieldValues, context: FormulaContext) => Value | Promise<Value>
}

/**
 * Checks a formula against the fields of its type and compiles it (document 1, Field rules 4; decisions, Formula language). What is
 * wrong is a 400 VALIDATION_ERROR with its position: syntax, an unknown field, function or option, a wrong number of arguments, a
 * formula that reads its own field, a source over the limits.
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
      return goOn(evaluate, run, context).then((found) => finish(run, found, context))
    },
  }
}

/** The value, or undefined when the slice was over before. */
function evaluateSlice(evaluate: Evaluate, run: Evaluation, steps: number): Value | undefined {
  run.pauseAt = run.steps - steps
  try {
    return evaluate(run)
  } catch (error) {
    if (error !== sliceEnd) throw error
    return undefined
  }
}

/** Evaluates from one pause to the next. What a slice found is known to those behind it; one that found nothing makes the next one longer. */
async function goOn(evaluate: Evaluate, run: Evaluation, { pause, budget }: FormulaContext): Promise<Value> {
  const known = new Map<Evaluate, Value>()
  // The slice before this one knew nothing yet, so all of it is done again.
  run.steps = budget?.steps ?? formulaLimits.steps
  run.known = known
  for (let steps: number = formulaLimits.sliceSteps; ; ) {
    await pause?.()
    const before = known.size
    const value = evaluateSlice(evaluate, run, steps)
    if (value !== undefined) return value
    steps = known.size > before ? formulaLimits.sliceSteps : 2 * steps
  }
}
