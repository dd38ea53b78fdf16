import { type ListQuery, listRecords } from '#shared/core/records/query/list-records.ts'
import { isSearchMode, type PagedSearchQuery, readPagedSearch } from '#shared/core/records/query/read-search.ts'
import { searchRecords } from '#shared/core/records/query/search-records.ts'
import type { Scope } from '#shared/core/scope/scope.ts'

/** A page of records as the parameters of the list ask for it: of the plain listing, or of a search (docs/contract/records.md#lists). */
export const listOrSearch = async (scope: Scope, typeKey: string, query: ListQuery & PagedSearchQuery) =>
  isSearchMode(query) ? searchRecords(scope, typeKey, readPagedSearch(query)) : listRecords(scope, typeKey, query)
