import { withRecordType } from '#shared/core/records/access.ts'
import { exportRecordsOf } from '#shared/core/records/csv/export-records.ts'
import { exportRecords } from '#shared/core/records/jobs.ts'
import { readSearch } from '#shared/core/records/query/read-search.ts'
import { storeFile } from '#shared/platform/jobs/job-files.ts'
import { handler } from '#workers/platform/jobs/handler.ts'

export default handler(exportRecords, ({ payload: { typeKey, q, filter, sort, dir }, scope, advance }) =>
  withRecordType(scope, typeKey, async (type) => {
    const query = { q: q ?? undefined, filter: filter ?? undefined, sort: sort ?? undefined, dir: dir ?? undefined }
    const { total, truncated, bytes } = await exportRecordsOf(scope, type, readSearch(query))
    await advance({ done: 0, total })
    const { id: fileId } = await storeFile(
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
  }),
)
