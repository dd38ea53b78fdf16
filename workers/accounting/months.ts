import { sumLedgerMonths } from '#shared/accounting/jobs.ts'
import { sumMonths } from '#shared/accounting/months.ts'
import { platformHandler } from '#workers/handler.ts'

// The platform's own work: it changes nothing that anybody sees, and whoever asked for the report may have left since.
export default platformHandler(sumLedgerMonths, async ({ payload: { workspaceId }, scope: { db } }) => {
  await sumMonths({ db, workspace: { id: workspaceId } })
  return { result: null }
})
