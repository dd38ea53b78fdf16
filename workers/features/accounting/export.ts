import { exportBooks } from '#shared/features/accounting/export/export.ts'
import { exportFormats } from '#shared/features/accounting/export/formats.ts'
import { exportLedgerJob } from '#shared/features/accounting/jobs.ts'
import { storeJobFile } from '#shared/platform/jobs/job-files.ts'
import { defineHandler } from '#workers/core/scope/handler.ts'

export default defineHandler(exportLedgerJob, async ({ payload: { format: name, recordedBefore }, scope, advance }) => {
  const format = exportFormats[name]
  const bytes = exportBooks(scope, format, recordedBefore ?? undefined, (entries) => advance({ done: entries, total: entries }))
  const file = { contentType: format.contentType, name: `ledger.${format.extension}` }
  const { id: fileId } = await storeJobFile(scope, scope.workspace.id, bytes, file)
  return { result: null, fileId }
})
