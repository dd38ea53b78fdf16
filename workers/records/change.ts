import { isOutdatedPicture } from '#shared/db/conflicts.ts'
import { computeBudget } from '#shared/kernel/compute-budget.ts'
import { parseStoredJson } from '#shared/kernel/json.ts'
import { runBatch } from '#shared/records/batch.ts'
import { batchComputeSteps, batchOperations } from '#shared/records/batch-schemas.ts'
import { changeRecords } from '#shared/records/jobs.ts'
import { handler } from '#workers/handler.ts'

/** How often a batch is begun while its record type keeps changing. */
const maxAttempts = 5

const bound = `the formulas of a batch may take at most ${batchComputeSteps} steps of computing; send fewer operations at once`

/** The batch and its results commit together, so a worker that is killed leaves all of it to the next. */
export default handler(changeRecords, async ({ payload: { typeKey, operations: text, atomic }, commit }) => {
  const operations = batchOperations.parse(parseStoredJson(text), 'operations')
  for (let attempt = 1; ; attempt++) {
    try {
      return await commit(async (inside) => {
        const compute = computeBudget(inside.workspace.id, { steps: batchComputeSteps, bound })
        return { result: await runBatch({ ...inside, compute }, typeKey, operations, atomic) }
      })
    } catch (error) {
      // A picture that went out of date has ended the transaction, and is forgotten by now.
      if (!isOutdatedPicture(error) || attempt >= maxAttempts) throw error
    }
  }
})
