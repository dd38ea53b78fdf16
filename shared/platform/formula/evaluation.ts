import type { Value } from '#shared/platform/formula/values/value.ts'
import type { FieldValue } from '#shared/platform/kernel/field-type.ts'
import { formulaLimits } from './limits.ts'

/** Where a formula finds the values of the record's fields; a Map is one. */
export interface FieldValues {
  get(key: string): FieldValue | undefined
}

/** What an evaluation is told about the world: the time of the write, which TODAY and NOW stand for. */
export interface FormulaContext {
  readonly now: Date
  /** Steps that several evaluations share, such as all of one record; each takes off what it used. `limits.steps` for one without. */
  readonly budget?: FormulaBudget
  /** Gives the thread back in the midst of a long evaluation. Without it an evaluation is one piece. */
  readonly pause?: () => Promise<void>
}

/** What the evaluations of one record may still take. */
export interface FormulaBudget {
  steps: number
  /** UTF-16 units of the texts that they make. */
  text: number
}

/** One evaluation under way: its inputs, the fields read so far, and the steps that it may still take. */
export interface Evaluation {
  readonly values: FieldValues
  readonly now: Date
  readonly slots: (Value | undefined)[]
  steps: number
  /** Where the slice ends: `charge` throws `sliceEnd` when fewer steps are left. */
  pauseAt: number
  /** What parts of the formula gave before the slice ended. They are not evaluated again. */
  known: Map<Evaluate, Value> | undefined
}

/** Thrown where a slice ends. The evaluation is begun again, and takes what is known already. */
export const sliceEnd = Symbol('slice end')

/** A compiled expression. It never throws: what cannot be evaluated is an error value. */
export type Evaluate = (run: Evaluation) => Value

export const startEvaluation = (values: FieldValues, context: FormulaContext, slots: number): Evaluation => ({
  values,
  now: context.now,
  slots: new Array<Value | undefined>(slots),
  steps: context.budget?.steps ?? formulaLimits.steps,
  pauseAt: Number.NEGATIVE_INFINITY,
  known: undefined,
})

/** Evaluates a part of a formula once in a run, however often the run is begun again. */
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

/** Takes steps. Throws `sliceEnd` when the slice is over; a run without steps goes on to its end, which is near. */
export function takeSteps(run: Evaluation, steps: number): void {
  run.steps -= steps
  if (run.steps < run.pauseAt && run.steps >= 0) throw sliceEnd
}

/** Takes the steps for handling a value: long texts cost by their length. */
export function chargeSteps(run: Evaluation, value: Value): void {
  takeSteps(run, typeof value === 'string' ? 1 + (value.length >> 1) : 1)
}
