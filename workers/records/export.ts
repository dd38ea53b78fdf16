import { storeFile } from '#shared/queue/files.ts'
import { exportRecordsOf } from '#shared/records/export.ts'
import { exportRecords } from '#shared/records/jobs.ts'
import { withRecordType } from '#shared/records/picture.ts'
import { readSearch } from '#shared/records/search-query.ts'
import { handler } from '#workers/handler.ts'

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
