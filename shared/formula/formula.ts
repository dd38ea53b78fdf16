import { compile, type FormulaField } from './compile.ts'
import { formulaProblem } from './failures.ts'
import { parseFormula } from './parser.ts'
import { type FieldValues, type FormulaContext, startRun } from './run.ts'
import { errors, type Value } from './values.ts'

/** What a formula is checked against: the fields of its type by key, and the field that it computes. */
export interface FormulaScope {
  readonly fields: ReadonlyMap<string, FormulaField>
  readonly target: { readonly key: string }
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
}

/**
 * Checks a formula against the fields of its type and compiles it (document 1, Field rules 4; decisions, Formula language). What is
 * wrong is a 400 VALIDATION_ERROR with its position: syntax, an unknown field, function or option, a wrong number of arguments, a
 * formula that reads its own field, a source over the limits.
 */
export function compileFormula(source: string, { fields, target }: FormulaScope): CompiledFormula {
  const slots = new Map<string, number>()
  const words = new Set<string>()
  const evaluate = compile(parseFormula(source), { fields, slots, words })
  const dependencies = [...slots.keys()]
  if (slots.has(target.key)) throw formulaProblem(`${target.key} reads itself: ${target.key} → ${target.key}`)
  return {
    dependencies,
    words,
    evaluate(values, context) {
      const run = startRun(values, context, dependencies.length)
      const value = evaluate(run)
      if (context.budget) context.budget.steps = Math.max(run.steps, 0)
      return run.steps < 0 ? errors.limit : value
    },
  }
}
