import { requireRecordAccess, withRecordType } from '#shared/core/records/access.ts'
import { readFieldSelection } from '#shared/core/records/query/field-selection.ts'
import { compileQuery, type QueryPage, type RecordQuery } from '#shared/core/records/query/query.ts'
import { readQueryRows } from '#shared/core/records/query/search-records.ts'
import { pageOf } from '#shared/core/records/query/search-store.ts'
import { cachedSearchStatement } from '#shared/core/records/query/statement-cache.ts'
import { toVisibleViews } from '#shared/core/records/read.ts'
import type { RecordView } from '#shared/core/records/record.ts'
import type { Scope } from '#shared/core/scope/scope.ts'

/**
 * A page of the matching records that the caller may read, as in `searchRecords`, without the total. The text of a page is unbounded: use
 * a small limit for long records.
 */
export function findRecords(scope: Scope, typeKey: string, query: RecordQuery & QueryPage): Promise<RecordView[]> {
  return withRecordType(scope, typeKey, async (type) => {
    const access = requireRecordAccess(scope, type, 'records:read')
    const selected = readFieldSelection(type, access, query.fields)
    const compiled = compileQuery(scope, type, access, query)
    const fill = cachedSearchStatement(access, `page ${compiled.shape}`, () => pageOf(type, compiled))
    const rows = await readQueryRows(scope, compiled, fill({ ...compiled.values, limit: query.limit, offset: query.offset ?? 0 }))
    const found = rows.filter(([id]) => id !== null)
    return toVisibleViews(type, found, access, selected)
  })
}
