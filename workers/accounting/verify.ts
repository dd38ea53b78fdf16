import { verifyLedger } from '#shared/accounting/jobs.ts'
import { verifyBooks } from '#shared/accounting/verify.ts'
import { handler } from '#workers/handler.ts'

export default handler(verifyLedger, async ({ scope, advance }) => ({
  result: await verifyBooks(scope, (done) => advance({ done, total: done })),
}))
