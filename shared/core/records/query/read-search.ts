import type { RecordAccess } from '#shared/core/policy/fields/record-access.ts'
import { type Filter, readFilterTree } from '#shared/core/records/query/filter-tree.ts'
import type { QueryPage, RecordQuery, SortKey } from '#shared/core/records/query/query.ts'
import type { RecordType } from '#shared/core/types/record-type.ts'
import { problem } from '#shared/platform/kernel/errors.ts'

/** The query parameters of a search (docs/contract/records.md#search-mode). An export takes them without the page. */
interface SearchQuery {
  readonly q?: string | undefined
  /** A filter, or its JSON text. */
  readonly filter?: Filter | string | undefined
  /** A field key or `created_at`, or several separated by commas. */
  readonly sort?: string | undefined
  /** `asc` or `desc`, for all keys or for each, separated by commas. Default: `desc`. */
  readonly dir?: string | undefined
}

export interface PagedSearchQuery extends SearchQuery {
  readonly limit: number
  readonly page?: number | undefined
  readonly offset?: number | undefined
  /** A cursor of the plain listing, which a search refuses. */
  readonly cursor?: string | undefined
  /** Keys of the fields to show, separated by commas; absent: all fields. */
  readonly fields?: string | undefined
}

/** Parses a search's parameters. Throws VALIDATION_ERROR that names the parameter and its rule. `compileQuery` checks the fields. */
export const readSearch = ({ q, filter, sort, dir }: SearchQuery): RecordQuery => ({
  q,
  filter: filter === undefined ? undefined : readFilterTree(filter),
  sort: readSort(sort, dir),
})

/** Parses a search's parameters and its page. Throws VALIDATION_ERROR like `readSearch`, and for a cursor. */
export function readPagedSearch(query: PagedSearchQuery): RecordQuery & QueryPage {
  if (query.cursor !== undefined) {
    throw problem('VALIDATION_ERROR', 'cursor belongs to the plain listing; a search by q, filter or sort takes page or offset instead')
  }
  return {
    ...readSearch(query),
    limit: query.limit,
    // `offset` overrides `page`.
    offset: query.offset ?? ((query.page ?? 1) - 1) * query.limit,
    fields: readFieldKeys(query.fields),
  }
}

/** One direction applies to all keys; several apply to the keys in their order (docs/contract/records.md#sorting). */
function readSort(sort = 'created_at', dir = 'desc'): readonly SortKey[] {
  const [keys, directions] = [sort.split(','), dir.split(',')]
  if (directions.length > 1 && directions.length !== keys.length) {
    throw problem(
      'VALIDATION_ERROR',
      `dir must be one direction or one for each of the ${keys.length} keys of sort, got ${directions.length}`,
    )
  }
  return keys.map((field, index) => ({ field, dir: readDirection(directions[index] ?? directions[0] ?? 'desc') }))
}

function readDirection(dir: string): SortKey['dir'] {
  if (dir !== 'asc' && dir !== 'desc') throw problem('VALIDATION_ERROR', `dir must be asc or desc, got ${dir}`)
  return dir
}

/** Parses `fields=name,total` to field keys; undefined for all fields. */
export const readFieldKeys = (text: string | undefined): readonly string[] | undefined =>
  text === undefined ? undefined : text === '' ? [] : text.split(',')

/**
 * The fields that a caller selected; undefined for all. Throws the same VALIDATION_ERROR for an unknown field and for one that the caller
 * may never see.
 */
export function readFieldSelection(
  type: RecordType,
  access: RecordAccess,
  keys: readonly string[] | undefined,
): ReadonlySet<string> | undefined {
  if (keys === undefined) return undefined
  for (const key of keys) {
    if (!type.fieldByKey.has(key) || access.neverVisible.has(key)) {
      throw problem('VALIDATION_ERROR', `fields must name fields of ${type.key} that you may read, got ${key}`)
    }
  }
  return new Set(keys)
}

/** Whether a listing's parameters select search mode: any of these does, even when empty (docs/contract/records.md#lists). */
export const isSearchMode = (query: object): boolean =>
  ['q', 'filter', 'sort', 'page', 'offset'].some((name) => (query as Readonly<Record<string, unknown>>)[name] !== undefined)
