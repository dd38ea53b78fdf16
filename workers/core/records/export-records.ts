import { prepareExport } from '#shared/core/records/csv/export-records.ts'
import { exportRecordsJob } from '#shared/core/records/jobs.ts'
import { readSearch } from '#shared/core/records/query/read-search.ts'
import { requireRecordType } from '#shared/core/types/record-type.ts'
import { storeJobFile } from '#shared/platform/jobs/job-files.ts'
import { defineHandler } from '#workers/core/scope/handler.ts'

export default defineHandler(exportRecordsJob, async ({ payload: { typeKey, q, filter, sort, dir }, scope, advance }) => {
  const type = await requireRecordType(scope, typeKey)
  const query = { q: q ?? undefined, filter: filter ?? undefined, sort: sort ?? undefined, dir: dir ?? undefined }
  const { total, truncated, bytes } = await prepareExport(scope, type, readSearch(query))
  await advance({ done: 0, total })
  const { id: fileId } = await storeJobFile(
    scope,
    scope.workspace.id,
    bytes((done) => advance({ done, total })),
    {
      contentType: 'text/csv; charset=utf-8',
      name: `${type.key}.csv`,
      headers: truncated ? { 'X-Export-Truncated': 'true' } : {},
    },
  )
  return { result: null, fileId }
})
