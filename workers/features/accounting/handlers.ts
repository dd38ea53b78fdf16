import { exportBooks } from '#shared/features/accounting/export/export.ts'
import { exportFormats } from '#shared/features/accounting/export/formats.ts'
import type { feature } from '#shared/features/accounting/feature.ts'
import { exportLedgerJob, sumLedgerMonthsJob, verifyLedgerJob } from '#shared/features/accounting/jobs.ts'
import { countCheck } from '#shared/features/accounting/metrics.ts'
import { updateMonthSums } from '#shared/features/accounting/reports/month-sums.ts'
import { verifyBooks } from '#shared/features/accounting/seals/verify.ts'
import { storeJobFile } from '#shared/platform/jobs/job-files.ts'
import { defineHandler, definePlatformHandler } from '#workers/core/scope/handler.ts'
import sealBooks from '#workers/features/accounting/seal.ts'
import type { HandlersOf } from '#workers/platform/jobs/handler.ts'

export const handlers = {
  sealBooks,
  verifyLedger: defineHandler(verifyLedgerJob, async ({ scope, advance }) => {
    const result = await verifyBooks(scope, (entries) => advance({ done: entries, total: entries }))
    countCheck(result.ok)
    return { result }
  }),
  exportLedger: defineHandler(exportLedgerJob, async ({ payload: { format: name, recordedBefore }, scope, advance }) => {
    const format = exportFormats[name]
    const bytes = exportBooks(scope, format, recordedBefore ?? undefined, (entries) => advance({ done: entries, total: entries }))
    const file = { contentType: format.contentType, name: `ledger.${format.extension}` }
    const { id: fileId } = await storeJobFile(scope, scope.workspace.id, bytes, file)
    return { result: null, fileId }
  }),
  // Runs as the platform: the sums change no answer of a report, and the caller of the report may have left the workspace since.
  sumLedgerMonths: definePlatformHandler(sumLedgerMonthsJob, async ({ payload: { workspaceId }, scope: { db } }) => {
    await updateMonthSums({ db, workspace: { id: workspaceId } })
    return { result: null }
  }),
} satisfies HandlersOf<typeof feature.jobs>
