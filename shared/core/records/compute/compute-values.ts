import { memoizeByObject } from '#shared/core/policy/memoize.ts'
import type { Values } from '#shared/core/records/record.ts'
import type { Scope } from '#shared/core/scope/scope.ts'
import type { RecordType } from '#shared/core/types/record-type.ts'
import { formulaLimits } from '#shared/platform/formula/limits.ts'
import { type ComputeBudget, computeBudget } from '#shared/platform/kernel/process/compute-budget.ts'

const none: ReadonlySet<string> = new Set()

/**
 * Evaluates every computed field of a record into `values`, each after the fields that it reads. A formula that fails gives an empty value;
 * so does a field whose key is in `withheld`. Yields the thread between slices. Throws VALIDATION_ERROR when the record takes more steps
 * than the scope's budget has left.
 */
export async function computeValues(scope: ComputingScope, type: RecordType, values: Values, withheld = none): Promise<void> {
  if (type.computations.length === 0) return
  const compute = scope.computeBudget ?? unbounded(scope)
  const share = shareOf(type)
  const budget = { ...share }
  const pause = () => compute.pause()
  const context = { now: scope.now(), defaultCurrency: scope.workspace.default_currency, budget, pause }
  let steps = 0
  for (const { field, compute: evaluate } of type.computations) {
    if (compute.isPauseDue()) await compute.pause()
    Object.assign(budget, share)
    const value = withheld.has(field.key) ? null : evaluate(values, context)
    values[field.key] = value instanceof Promise ? await value : value
    steps += share.steps - budget.steps
  }
  compute.takeSteps(Math.ceil(steps / formulaStepsPerStep))
}

/**
 * What each formula of a type may take of the limits of a record. Every formula has its own share, so that no result depends on the length
 * of another one, which may be hidden from the caller. Only text fields hold long results, so that they alone share the text.
 */
const shareOf = memoizeByObject(({ computations }: RecordType) => ({
  steps: Math.floor(formulaLimits.steps / computations.length),
  text: Math.floor(formulaLimits.recordText / Math.max(1, computations.filter(({ field }) => field.type === 'text').length)),
}))

type ComputingScope = Pick<Scope, 'now' | 'db' | 'workspace' | 'computeBudget'>

/** Formula steps, 10 to 20 ns each, in one budget step. */
const formulaStepsPerStep = 64

/**
 * A budget without a bound, for scopes that have no budget: they compute few records, and `formulaLimits` bounds the formulas of each
 * record.
 */
const unbounded = ({ db }: ComputingScope): ComputeBudget => computeBudget(db.owner, { steps: Number.POSITIVE_INFINITY, bound: '' })
