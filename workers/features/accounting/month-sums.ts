import { sumLedgerMonths } from '#shared/features/accounting/jobs.ts'
import { sumMonths } from '#shared/features/accounting/reports/month-sums.ts'
import { platformHandler } from '#workers/platform/jobs/handler.ts'

// Runs as the platform: no answer changes by it, and the report's caller may have left the workspace since.
export default platformHandler(sumLedgerMonths, async ({ payload: { workspaceId }, scope: { db } }) => {
  await sumMonths({ db, workspace: { id: workspaceId } })
  return { result: null }
})
