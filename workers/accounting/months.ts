import { sumLedgerMonths } from '#shared/accounting/jobs.ts'
import { sumMonths } from '#shared/accounting/months.ts'
import { platformHandler } from '#workers/handler.ts'

// Runs as the platform: no answer changes by it, and the report's caller may have left the workspace since.
export default platformHandler(sumLedgerMonths, async ({ payload: { workspaceId }, scope: { db } }) => {
  await sumMonths({ db, workspace: { id: workspaceId } })
  return { result: null }
})
