import { exportBooks, formats } from '#shared/features/accounting/export/export.ts'
import { exportLedger } from '#shared/features/accounting/jobs.ts'
import { storeFile } from '#shared/platform/jobs/job-files.ts'
import { handler } from '#workers/platform/jobs/handler.ts'

export default handler(exportLedger, async ({ payload: { format: name, recordedBefore }, scope, advance }) => {
  const format = formats[name]
  const bytes = exportBooks(scope, format, recordedBefore ?? undefined, (entries) => advance({ done: entries, total: entries }))
  const file = { contentType: format.contentType, name: `ledger.${format.extension}` }
  const { id: fileId } = await storeFile(scope, scope.workspace.id, bytes, file)
  return { result: null, fileId }
})
