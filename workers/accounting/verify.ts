import { verifyLedger } from '#shared/accounting/jobs.ts'
import { countCheck } from '#shared/accounting/metrics.ts'
import { verifyBooks } from '#shared/accounting/verify.ts'
import { handler } from '#workers/handler.ts'

export default handler(verifyLedger, async ({ scope, advance }) => {
  const result = await verifyBooks(scope, (entries) => advance({ done: entries, total: entries }))
  countCheck(result.ok)
  return { result }
})
