import { isOutdatedPicture } from '#shared/db/conflicts.ts'
import { computeBudget } from '#shared/kernel/compute-budget.ts'
import { parseStoredJson } from '#shared/kernel/json.ts'
import { runBatch } from '#shared/records/batch.ts'
import { batchComputeSteps, batchOperations } from '#shared/records/batch-schemas.ts'
import { computeAhead } from '#shared/records/compute-ahead.ts'
import { changeRecords } from '#shared/records/jobs.ts'
import { handler } from '#workers/handler.ts'

/** How often a batch is begun while its record type keeps changing. */
const maxAttempts = 5

const bound = `the formulas of a batch may take at most ${batchComputeSteps} steps of computing; send fewer operations at once`

/** The batch and its results commit together, so a worker that is killed leaves all of it to the next. */
export default handler(changeRecords, async ({ payload: { typeKey, operations: text, atomic }, scope, commit }) => {
  const operations = batchOperations.parse(parseStoredJson(text), 'operations')
  for (let attempt = 1; ; attempt++) {
    try {
      const compute = computeBudget(scope.workspace.id, { steps: batchComputeSteps, bound })
      const ahead = atomic ? await computeAhead({ ...scope, compute }, typeKey, operations) : undefined
      return await commit(async (inside) => ({ result: await runBatch({ ...inside, compute }, typeKey, operations, atomic, ahead) }))
    } catch (error) {
      // A picture that went out of date has ended the transaction, and is forgotten by now.
      if (!isOutdatedPicture(error) || attempt >= maxAttempts) throw error
    }
  }
})
