import type { FieldValue } from '#shared/kernel/field-type.ts'
import { limits } from './limits.ts'
import type { Value } from './values.ts'

/** Where a formula finds the values of the record's fields; a Map is one. */
export interface FieldValues {
  get(key: string): FieldValue | undefined
}

/** What an evaluation is told about the world: the time of the write, which TODAY and NOW stand for. */
export interface FormulaContext {
  readonly now: Date
  /** Steps that several evaluations share, such as all of one record; each takes off what it used. `limits.steps` for one without. */
  readonly budget?: Budget
}

/** What the evaluations of one record may still take. */
export interface Budget {
  steps: number
  /** UTF-16 units of the texts that they make. */
  text: number
}

/** One evaluation under way: its inputs, the fields read so far, and the steps that it may still take. */
export interface Run {
  readonly values: FieldValues
  readonly now: Date
  readonly slots: (Value | undefined)[]
  steps: number
}

/** A compiled expression. It never throws: what cannot be evaluated is an error value. */
export type Evaluate = (run: Run) => Value

export const startRun = (values: FieldValues, context: FormulaContext, slots: number): Run => ({
  values,
  now: context.now,
  slots: new Array<Value | undefined>(slots),
  steps: context.budget?.steps ?? limits.steps,
})

/** Takes the steps for handling a value: long texts cost by their length. */
export function charge(run: Run, value: Value): void {
  run.steps -= typeof value === 'string' ? 1 + (value.length >> 1) : 1
}
