import { problem } from '#shared/kernel/errors.ts'
import { parseJson } from '#shared/kernel/json.ts'
import { schema, t } from '#shared/kernel/schema.ts'

/** The query of a search as the caller sends it (document 1, Search mode). Export takes the part that is not paging. */
export interface SearchQuery {
  readonly q?: string | undefined
  readonly filter?: string | undefined
  /** A field key or `created_at`, or several separated by commas. */
  readonly sort?: string | undefined
  /** `asc` or `desc`, for all keys or for each, separated by commas; `desc` without it. */
  readonly dir?: string | undefined
}

export interface PagedSearchQuery extends SearchQuery {
  readonly limit: number
  readonly page?: number | undefined
  readonly offset?: number | undefined
  /** Keys of the fields to show, separated by commas; all without it. */
  readonly fields?: string | undefined
}

/** Conditions in one search; more is refused, so that no request builds an endless statement. */
export const maxFilters = 50

const filters = schema(
  t.Array(t.Object({ field: t.String(), op: t.Optional(t.String()), value: t.String() }), {
    maxItems: maxFilters,
    description: 'Conditions that must all hold; value is always a string.',
  }),
)
export type Filter = { readonly field: string; readonly op?: string; readonly value: string }

/** Reads the `filter` parameter: a JSON array of `{field, op, value}`. Throws VALIDATION_ERROR that names the entry and the rule. */
export function parseFilters(text: string | undefined): readonly Filter[] {
  return text === undefined ? [] : filters.parse(readArray(text), 'filter')
}

function readArray(text: string): unknown {
  try {
    return parseJson(text)
  } catch (cause) {
    throw problem('VALIDATION_ERROR', 'filter must be a JSON array of {field, op, value}', { cause })
  }
}

/** Where a page of a search starts; `offset` wins over `page` (decisions, Records, types, fields). */
export function startOf({ page, offset, limit }: PagedSearchQuery): number {
  return offset ?? ((page ?? 1) - 1) * limit
}

/** Whether a listing's parameters choose search mode: any of these does, whatever it holds (document 1, Records, rule 4). */
export const isSearch = (query: Readonly<Record<string, unknown>>): boolean =>
  ['q', 'filter', 'sort', 'page', 'offset'].some((name) => query[name] !== undefined)
