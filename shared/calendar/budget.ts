import { type ComputeBudget, computeBudget } from '#shared/kernel/compute-budget.ts'
import type { Scope } from '#shared/scope/scope.ts'

/** Steps of one question about calendars: 5 to 100 for each year of a series, 3 for each occurrence (page "Beyond", section 2). */
const mostSteps = 4_000_000
/** Steps while a transaction is open, which others may wait for: under a second of computing. */
const mostStepsInside = 1_000_000

const budgetOf = ({ workspace }: Pick<Scope, 'workspace'>, steps: number): ComputeBudget =>
  computeBudget(workspace.id, {
    steps,
    bound: `The repeating events take more than ${steps} steps to compute: ask for a shorter time or fewer calendars, or let events repeat less often`,
  })

/** The budget of one question about calendars, such as a list, free times or free/busy: all that it computes shares it. */
export const questionBudget = (scope: Pick<Scope, 'workspace'>): ComputeBudget => budgetOf(scope, mostSteps)

/** The budget of what is computed while a transaction is open. */
export const transactionBudget = (scope: Pick<Scope, 'workspace'>): ComputeBudget => budgetOf(scope, mostStepsInside)
