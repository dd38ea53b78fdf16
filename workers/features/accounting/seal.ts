import { sealBooksJob } from '#shared/features/accounting/jobs.ts'
import { countSeal } from '#shared/features/accounting/metrics.ts'
import { prepareSeal, storeSeal } from '#shared/features/accounting/seals/seals.ts'
import { problem } from '#shared/platform/kernel/errors.ts'
import { defineHandler } from '#workers/core/scope/handler.ts'

/** Attempts to store a seal when others are stored first. Each attempt has fewer entries to hash than the one before. */
const maxAttempts = 20

/** Thrown to roll the transaction back when another seal took the same position in the chain of seals. */
class Overtaken extends Error {}

/**
 * Seals the ledger. No lock is held while hashing. The seal and the job's completion are committed together, so no crash leaves a seal that
 * the job's result does not name.
 */
export default defineHandler(sealBooksJob, async ({ payload: { until }, scope, commit }) => {
  for (let attempt = 1; attempt <= maxAttempts; attempt++) {
    const prepared = await prepareSeal(scope, until ?? undefined)
    try {
      return await commit(async (inside) => {
        const seal = await storeSeal(inside, prepared)
        if (!seal) throw new Overtaken()
        inside.db.afterCommit(countSeal)
        return { result: seal }
      })
    } catch (error) {
      if (!(error instanceof Overtaken)) throw error
    }
  }
  throw problem('INTERNAL', `Other seals were stored first in all ${maxAttempts} attempts`)
})
