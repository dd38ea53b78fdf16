import { sumLedgerMonthsJob } from '#shared/features/accounting/jobs.ts'
import { updateMonthSums } from '#shared/features/accounting/reports/month-sums.ts'
import { definePlatformHandler } from '#workers/core/scope/handler.ts'

// Runs as the platform: the sums change no answer of a report, and the caller of the report may have left the workspace since.
export default definePlatformHandler(sumLedgerMonthsJob, async ({ payload: { workspaceId }, scope: { db } }) => {
  await updateMonthSums({ db, workspace: { id: workspaceId } })
  return { result: null }
})
