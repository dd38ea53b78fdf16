import { formulaLimits } from '#shared/platform/formula/limits.ts'
import type { Value } from '#shared/platform/formula/values/value.ts'
import type { FieldValue } from '#shared/platform/kernel/field-type.ts'

/** Read access to the record's values by field key, for example a Map. */
export interface FieldValues {
  get(key: string): FieldValue | undefined
}

/** Inputs of an evaluation besides the record. `now` is the time of the write, which TODAY and NOW return. */
export interface FormulaContext {
  readonly now: Date
  /**
   * Budget of the evaluation, which subtracts the steps that it used. Without a budget an evaluation has `formulaLimits.steps`.
   */
  readonly budget?: FormulaBudget
  /** Yields the thread between two slices of a long evaluation. */
  readonly pause?: () => Promise<void>
}

/** Remaining steps and text of an evaluation. */
export interface FormulaBudget {
  steps: number
  /** UTF-16 units that the text of the result may have. */
  text: number
}

/** State of a running evaluation: its inputs, the fields read so far and the remaining steps. */
export interface Evaluation {
  readonly values: FieldValues
  readonly now: Date
  readonly slots: (Value | undefined)[]
  steps: number
  /** End of the slice: `takeSteps` throws `sliceEnd` when fewer steps than this remain. */
  pauseAt: number
  /** Results of parts of the formula from earlier slices; these parts are not evaluated again. */
  known: Map<Evaluate, Value> | undefined
}

/** Thrown at the end of a slice. The evaluation restarts and reuses the results in `known`. */
export const sliceEnd = Symbol('slice end')

/** A compiled expression. It throws nothing but `sliceEnd`: failures are error values. */
export type Evaluate = (run: Evaluation) => Value

export const startEvaluation = (values: FieldValues, context: FormulaContext, slots: number): Evaluation => ({
  values,
  now: context.now,
  slots: new Array<Value | undefined>(slots),
  steps: context.budget?.steps ?? formulaLimits.steps,
  pauseAt: Number.NEGATIVE_INFINITY,
  known: undefined,
})

/** Wraps a part of a formula so that its result is kept when the run restarts after a slice. */
export const evaluateOnce =
  (evaluate: Evaluate): Evaluate =>
  (run) => {
    const { known } = run
    if (known === undefined) return evaluate(run)
    const value = known.get(evaluate)
    if (value !== undefined) return value
    const found = evaluate(run)
    known.set(evaluate, found)
    return found
  }

/** Subtracts steps. Throws `sliceEnd` when the slice is over. A run with a negative budget is not paused: it soon ends with #LIMIT!. */
export function takeSteps(run: Evaluation, steps: number): void {
  run.steps -= steps
  if (run.steps < run.pauseAt && run.steps >= 0) throw sliceEnd
}

/** Subtracts the steps for handling a value: 1, and for a text half its length in addition. */
export function chargeSteps(run: Evaluation, value: Value): void {
  takeSteps(run, typeof value === 'string' ? 1 + (value.length >> 1) : 1)
}
