import { type ListQuery, listRecords } from '#shared/core/records/query/list-records.ts'
import { isSearchMode, type PagedSearchQuery, readPagedSearch } from '#shared/core/records/query/read-search.ts'
import { searchRecords } from '#shared/core/records/query/search-records.ts'
import { prepareExpansion } from '#shared/core/records/references/expand-records.ts'
import type { Scope } from '#shared/core/scope/scope.ts'

type ListOrSearchQuery = ListQuery & PagedSearchQuery & { readonly expand?: string | undefined }

/** A page of records as the parameters of the list ask for it: of the plain listing, or of a search (docs/contract/records.md#lists). */
export async function listOrSearch(scope: Scope, typeKey: string, { expand, ...query }: ListOrSearchQuery) {
  if (expand === undefined) return readPage(scope, typeKey, query)
  const expansion = await prepareExpansion(scope, typeKey, expand, query.fields)
  const page = await readPage(scope, typeKey, { ...query, fields: expansion.fields })
  return { ...page, records: await expansion.expand(page.records) }
}

const readPage = async (scope: Scope, typeKey: string, query: ListQuery & PagedSearchQuery) =>
  isSearchMode(query) ? searchRecords(scope, typeKey, readPagedSearch(query)) : listRecords(scope, typeKey, query)
