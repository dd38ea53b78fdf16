import { runBatch, toResults } from '#shared/core/records/change/batch.ts'
import type { BatchOutcome } from '#shared/core/records/change/batch-references.ts'
import { type BatchOperation, batchComputeSteps, parseOperations } from '#shared/core/records/change/batch-schemas.ts'
import { precomputeRecords } from '#shared/core/records/compute/precompute.ts'
import { changeRecordsJob } from '#shared/core/records/jobs.ts'
import { type Scope, within } from '#shared/core/scope/scope.ts'
import { computeBudget } from '#shared/platform/kernel/process/compute-budget.ts'
import { parseStoredJson } from '#shared/platform/kernel/values/json.ts'
import { defineHandler } from '#workers/core/scope/handler.ts'
import type { Attempt } from '#workers/platform/jobs/handler.ts'

/** Changes per transaction of a non-atomic batch (docs/contract/records.md#batch). */
const changesPerStep = 100

const budgetMessage = `the formulas of a batch may take at most ${batchComputeSteps} steps of computing; send fewer operations at once`

type Work = Pick<Attempt<unknown, unknown, Scope>, 'scope' | 'signal' | 'checkpoint' | 'advance'>

/**
 * An atomic batch commits together with its results. A non-atomic batch commits every 100 changes together with a checkpoint, from which
 * another worker continues after a crash.
 */
export default defineHandler(changeRecordsJob, async ({ payload: { typeKey, operations: text, atomic }, commit, ...work }) => {
  const operations = parseOperations(text, typeKey)
  const budget = computeBudget(work.scope.db.owner, { steps: batchComputeSteps, bound: budgetMessage })
  if (atomic) {
    const precomputed = await precomputeRecords({ ...work.scope, computeBudget: budget }, operations)
    return commit(async (inside) => ({
      result: { results: toResults(await runBatch({ ...inside, computeBudget: budget }, operations, { atomic: true, precomputed })) },
    }))
  }
  const run = (scope: Scope, earlier: readonly BatchOutcome[], until: number) =>
    runBatch({ ...scope, computeBudget: budget }, operations, { atomic: false, earlier, until })
  const earlier = await changeInSteps(work, operations, run)
  return commit(async (inside) => ({ result: { results: toResults(await run(inside, earlier, operations.length)) } }))
})

type Run = (scope: Scope, earlier: readonly BatchOutcome[], until: number) => Promise<BatchOutcome[]>

/** Runs all changes except those of the last transaction. Returns their outcomes. */
async function changeInSteps({ scope, signal, checkpoint, advance }: Work, operations: readonly BatchOperation[], run: Run) {
  // The checkpoint is the outcomes so far as JSON text, which keeps the digits of their numbers.
  let outcomes = checkpoint === undefined ? [] : (parseStoredJson(checkpoint as string) as BatchOutcome[])
  const total = operations.length
  while (total - outcomes.length > changesPerStep) {
    signal.throwIfAborted()
    const earlier = outcomes
    outcomes = await scope.db.transaction(async (tx) => {
      const inside = within(scope, tx)
      const all = await run(inside, earlier, earlier.length + changesPerStep)
      await advance({ done: all.length, total }, JSON.stringify(all), inside)
      return all
    })
  }
  return outcomes
}
