import { limits } from '#shared/formula/limits.ts'
import type { Values } from '#shared/records/record.ts'
import type { Scope } from '#shared/scope/scope.ts'
import type { RecordType } from '#shared/types/record-type.ts'

const none: ReadonlySet<string> = new Set()

/**
 * Computes every computed field of a record into its values, each after those that it reads; what cannot be evaluated is empty, and so are
 * the fields whose keys stand in `withheld`.
 */
export function computeValues(scope: Pick<Scope, 'now' | 'workspace'>, type: RecordType, values: Values, withheld = none): void {
  if (type.computations.length === 0) return
  const budget = { steps: limits.steps, text: limits.recordText }
  const context = { now: scope.now(), defaultCurrency: scope.workspace.default_currency, budget }
  for (const { field, compute } of type.computations) values[field.key] = withheld.has(field.key) ? null : compute(values, context)
}
