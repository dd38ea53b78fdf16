import { sealBooks } from '#shared/accounting/jobs.ts'
import { countSeal } from '#shared/accounting/metrics.ts'
import { keepSeal, prepareSeal } from '#shared/accounting/seals.ts'
import { problem } from '#shared/kernel/errors.ts'
import { handler } from '#workers/handler.ts'

/** How often a seal is prepared while others come first: each of those is shorter than the one before. */
const maxAttempts = 20

/** Thrown to leave the transaction when another seal has taken the place in the chain. */
class Overtaken extends Error {}

/** Hashing holds nothing; the seal and the settled job commit together, so a worker that dies leaves none that nobody heard of. */
export default handler(sealBooks, async ({ payload: { until }, scope, commit }) => {
  for (let attempt = 1; attempt <= maxAttempts; attempt++) {
    const prepared = await prepareSeal(scope, until ?? undefined)
    try {
      return await commit(async (inside) => {
        const seal = await keepSeal(inside, prepared)
        if (!seal) throw new Overtaken()
        inside.db.afterCommit(countSeal)
        return { result: seal }
      })
    } catch (error) {
      if (!(error instanceof Overtaken)) throw error
    }
  }
  throw problem('INTERNAL', 'Other seals are made all the time')
})
