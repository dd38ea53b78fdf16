import { runBatch } from '#shared/core/records/change/batch.ts'
import { type BatchOperation, type BatchResult, batchComputeSteps, batchOperations } from '#shared/core/records/change/batch-schemas.ts'
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
  const operations = batchOperations.parse(parseStoredJson(text), 'operations')
  const budget = computeBudget(work.scope.db.owner, { steps: batchComputeSteps, bound: budgetMessage })
  if (atomic) {
    const precomputed = await precomputeRecords({ ...work.scope, computeBudget: budget }, typeKey, operations)
    return commit(async (inside) => ({
      result: { results: await runBatch({ ...inside, computeBudget: budget }, typeKey, operations, { atomic: true, precomputed }) },
    }))
  }
  const step = (scope: Scope, part: readonly BatchOperation[], earlier: readonly BatchResult[]) =>
    runBatch({ ...scope, computeBudget: budget }, typeKey, part, { atomic: false, earlier })
  const earlier = await changeInSteps(work, operations, step)
  return commit(async (inside) => ({
    result: { results: [...earlier, ...(await step(inside, operations.slice(earlier.length), earlier))] },
  }))
})

type Step = (scope: Scope, part: readonly BatchOperation[], earlier: readonly BatchResult[]) => Promise<BatchResult[]>

/** Runs all changes except those of the last transaction. Returns their results. */
async function changeInSteps({ scope, signal, checkpoint, advance }: Work, operations: readonly BatchOperation[], step: Step) {
  // The checkpoint is the results so far as JSON text, which keeps the digits of their numbers.
  let results = checkpoint === undefined ? [] : (parseStoredJson(checkpoint as string) as BatchResult[])
  const total = operations.length
  while (total - results.length > changesPerStep) {
    signal.throwIfAborted()
    const part = operations.slice(results.length, results.length + changesPerStep)
    const earlier = results
    results = await scope.db.transaction(async (tx) => {
      const inside = within(scope, tx)
      const all = [...earlier, ...(await step(inside, part, earlier))]
      await advance({ done: all.length, total }, JSON.stringify(all), inside)
      return all
    })
  }
  return results
}
