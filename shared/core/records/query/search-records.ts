import { requireAccess, withRecordType } from '#shared/core/records/access.ts'
import { chosenFields } from '#shared/core/records/query/field-selection.ts'
import { type CompiledQuery, compileQuery, type PageOf, type RecordQuery } from '#shared/core/records/query/query.ts'
import { pageWithTotal, totalOf } from '#shared/core/records/query/search-store.ts'
import { searched } from '#shared/core/records/query/statement-cache.ts'
import { visibleRows } from '#shared/core/records/read.ts'
import { allColumns, idOf, type RecordView, type Row } from '#shared/core/records/record.ts'
import { readRows, type Scope } from '#shared/core/scope/scope.ts'
import { fitting } from '#shared/platform/db/lists.ts'
import { asArrays, heavy, plannedForValues, type Statement } from '#shared/platform/db/statements/statement.ts'
import { problem } from '#shared/platform/kernel/errors.ts'

export interface SearchPage {
  readonly records: RecordView[]
  /** Exact, of what the caller may read. */
  readonly total: number
}

/**
 * A page of the records that match and that the caller may read, with their exact number (document 1, Search mode). Throws FORBIDDEN when
 * it may read none of the type, VALIDATION_ERROR for what `compileQuery` refuses.
 */
export function searchRecords(scope: Scope, typeKey: string, query: RecordQuery & PageOf): Promise<SearchPage> {
  return withRecordType(scope, typeKey, async (type) => {
    const access = requireAccess(scope, type, 'records:read')
    const chosen = chosenFields(type, access, query.fields)
    const { limit, offset = 0 } = query
    const search = compileQuery(scope, type, access, query)
    const page = searched(access, `search ${search.shape}`, () => pageWithTotal(type, search))
    const found = (await readAsPlanned(scope, search, page({ ...search.values, limit, offset }))).filter((row) => idOf(row) !== null)
    if (found.length > 0) {
      const records = visibleRows(type, found, access, chosen)
      if (type.longRecords && fitting(records).length < records.length) throw tooLong(limit)
      return { records, total: found[0]?.[allColumns(type).length + 1] as number }
    }
    // An empty page tells no number; the first page of nothing needs none.
    if (offset === 0 && !type.longRecords) return { records: [], total: 0 }
    const count = searched(access, `total ${search.shape}`, () => totalOf(type, search))
    const total = ((await readAsPlanned(scope, search, count(search.values)))[0]?.[0] ?? 0) as number
    if (total > offset) throw tooLong(limit)
    return { records: [], total }
  })
}

/** Reads rows as arrays, planned for the values where the best plan depends on them: parts of text and ranges, which may be heavy to find. */
export const readAsPlanned = (scope: Scope, { dependsOnValues, named }: CompiledQuery, statement: Statement): Promise<Row[]> =>
  readRows<Row>(scope, asArrays(dependsOnValues ? heavy(plannedForValues(statement), named) : statement))

const tooLong = (limit: number) =>
  problem('VALIDATION_ERROR', `limit must be less than ${limit} here: together these records have more than 10 MB`)
