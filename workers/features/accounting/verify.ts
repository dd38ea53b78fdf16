import { verifyLedgerJob } from '#shared/features/accounting/jobs.ts'
import { countCheck } from '#shared/features/accounting/metrics.ts'
import { verifyBooks } from '#shared/features/accounting/seals/verify.ts'
import { defineHandler } from '#workers/core/scope/handler.ts'

export default defineHandler(verifyLedgerJob, async ({ scope, advance }) => {
  const result = await verifyBooks(scope, (entries) => advance({ done: entries, total: entries }))
  countCheck(result.ok)
  return { result }
})
