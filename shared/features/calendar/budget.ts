import type { Scope } from '#shared/core/scope/scope.ts'
import { type ComputeBudget, computeBudget } from '#shared/platform/kernel/process/compute-budget.ts'

/** Steps of one calendar query: 5 to 100 per year of a series, 3 per occurrence (docs/contract/calendar.md#bounds-of-computing). */
const maxQuerySteps = 4_000_000
/** Steps while a transaction is open: under a second of computing, since other transactions may wait for its locks. */
const maxTransactionSteps = 1_000_000

/** Steps of reading one file: its time zones, and series that it splits. */
const maxFileSteps = 20_000_000

const budgetOf = ({ db }: Pick<Scope, 'db'>, steps: number): ComputeBudget =>
  computeBudget(db.owner, {
    steps,
    bound: `The repeating events take more than ${steps} steps to compute: ask for a shorter time or fewer calendars, or let events repeat less often`,
  })

/** The budget of one calendar query, such as a list, free times or free/busy. The whole query shares it. */
export const queryBudget = (scope: Pick<Scope, 'db'>): ComputeBudget => budgetOf(scope, maxQuerySteps)

/** The budget of computations inside one open transaction. */
export const transactionBudget = (scope: Pick<Scope, 'db'>): ComputeBudget => budgetOf(scope, maxTransactionSteps)

/** The budget of reading a file. */
export const fileBudget = ({ db }: Pick<Scope, 'db'>): ComputeBudget =>
  computeBudget(db.owner, {
    steps: maxFileSteps,
    bound: `The time zones and series of the file take more than ${maxFileSteps} steps to compute: import it in parts, or with fewer zones`,
  })
