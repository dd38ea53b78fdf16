import type { Values } from '#shared/core/records/record.ts'
import type { Scope } from '#shared/core/scope/scope.ts'
import type { RecordType } from '#shared/core/types/record-type.ts'
import { formulaLimits } from '#shared/platform/formula/limits.ts'
import { type ComputeBudget, computeBudget } from '#shared/platform/kernel/process/compute-budget.ts'

const none: ReadonlySet<string> = new Set()

/**
 * Computes every computed field of a record into its values, each after those that it reads; what cannot be evaluated is empty, and so are
 * the fields whose keys stand in `withheld`. Gives the thread back between slices. Throws VALIDATION_ERROR when the scope's budget has not
 * enough left for what the record took.
 */
export async function computeValues(scope: ComputingScope, type: RecordType, values: Values, withheld = none): Promise<void> {
  if (type.computations.length === 0) return
  const compute = scope.computeBudget ?? unbounded(scope)
  const budget = { steps: formulaLimits.steps, text: formulaLimits.recordText }
  const pause = () => compute.pause()
  const context = { now: scope.now(), defaultCurrency: scope.workspace.default_currency, budget, pause }
  for (const { field, compute: valueFor } of type.computations) {
    if (compute.isPauseDue()) await compute.pause()
    const value = withheld.has(field.key) ? null : valueFor(values, context)
    values[field.key] = value instanceof Promise ? await value : value
  }
  compute.takeSteps(Math.ceil((formulaLimits.steps - budget.steps) / formulaStepsPerStep))
}

type ComputingScope = Pick<Scope, 'now' | 'workspace' | 'computeBudget'>

/** Steps of a formula, of 10 to 20 ns each, that are one budget step. */
const formulaStepsPerStep = 64

/** The formulas of one record have a bound of their own, so what computes few records needs no other. */
const unbounded = ({ workspace }: ComputingScope): ComputeBudget =>
  computeBudget(workspace.id, { steps: Number.POSITIVE_INFINITY, bound: '' })
