import type { RecordAccess } from '#shared/core/policy/fields/record-access.ts'
import {
  comparisonCondition,
  filterCondition,
  type QueryCondition,
  type RecordFilter,
  requireNamedField,
} from '#shared/core/records/query/filter.ts'
import type { Scope } from '#shared/core/scope/scope.ts'
import { fieldKinds } from '#shared/core/types/field-kinds/field-kinds.ts'
import { requireSortable } from '#shared/core/types/field-kinds/filters/field-filter.ts'
import { containsText } from '#shared/core/types/field-kinds/filters/value-filter.ts'
import { countFieldUse, countRuleUses, countSearchUse } from '#shared/core/types/indexes/count-use.ts'
import type { RecordType } from '#shared/core/types/record-type.ts'
import { builder, type Knex } from '#shared/platform/db/statements/builder.ts'
import { slot } from '#shared/platform/db/statements/statement.ts'
import { problem } from '#shared/platform/kernel/errors.ts'
import { isUuid } from '#shared/platform/kernel/ids.ts'

/**
 * Which records of a type are meant, in which order: what routes, the SDK and other rooms ask with. A caller's rights are no part of it;
 * whatever answers a query adds them. `findRecords`, `searchRecords`, `sumRecords` and the export take one, `matcherOf` its filters.
 */
export interface RecordQuery {
  /** Text that any string or text field contains. */
  readonly q?: string | undefined
  /** All must hold; at most `maxFilters`. */
  readonly filters?: readonly RecordFilter[] | undefined
  /** Only records with one of these ids. What is no UUID names no record. */
  readonly ids?: readonly string[] | undefined
  /**
   * Only records of which the caller may see these fields, which may then be named though a rule could hide them: sums over records that
   * show what is added. Without it naming such a field is refused.
   */
  readonly seeing?: readonly string[] | undefined
  /** By one key after the other, empty values last, ties newest first; newest first without it. At most `maxSortKeys`. */
  readonly sort?: readonly SortKey[] | undefined
}

/** A page of a query: which of its records, and what of them. */
export interface QueryPage {
  /** At most so many records. */
  readonly limit: number
  /** So many of the first are passed over. */
  readonly offset?: number | undefined
  /** Keys of the fields to show; all without it. */
  readonly fields?: readonly string[] | undefined
}

/** A key of an order: of a field, or `created_at`. */
export interface SortKey {
  readonly field: string
  readonly dir: 'asc' | 'desc'
}

/** Conditions in one query; more is refused, so that no request builds an endless statement. */
export const maxFilters = 50

/** Characters of `q`; a longer text is refused. */
export const maxQueryLength = 500

/** Keys to sort by in one query. */
export const maxSortKeys = 8

/** A query as checked for one caller: what its statements look like, and what they are filled with. */
export interface CompiledQuery {
  /** The same text for queries of one caller whose statements differ in their values alone (`shaped`). */
  readonly shape: string
  /** The values of the slots in `where`, by name. */
  readonly values: Readonly<Record<string, unknown>>
  /** Whether the best plan depends on the values, as for ranges and parts of text. */
  readonly dependsOnValues: boolean
  /** What the caller may change when it asks for too much: `filter`, `q` or both. */
  readonly parameterNames: string
  /** What must hold of a record, the caller's rights included, with slots for the values; undefined when all are asked for. */
  readonly whereSql: () => Knex.Raw | undefined
  /** Empty values last, ties newest first. */
  readonly orderSql: () => Knex.Raw
}

/**
 * Compiles a query for a caller: what it may read, the filters, and `q` in any string or text field, which never matches text that is
 * hidden. Throws VALIDATION_ERROR for a field that is not there or that any rule could hide, told alike.
 */
export function compileQuery(scope: Scope, type: RecordType, access: RecordAccess, query: RecordQuery): CompiledQuery {
  const { filters = [], sort = [], ids, q } = query
  const hideable = hideableFieldsOf(access, query)
  if (filters.length > maxFilters) throw problem('VALIDATION_ERROR', `filter must have at most ${maxFilters} entries`)
  const conditions = filters.map((filter, index) => filterCondition(scope, type, hideable, filter, `filter[${index}]`))
  if (query.seeing) conditions.push(...query.seeing.map((key) => seeing(type, access, key)))
  if (ids) conditions.push(amongIds(ids))
  if (q) conditions.push(textCondition(scope, type, access, q))
  countRuleUses(scope, type.fields, access)
  const order = orderOf(scope, type, hideable, sort)
  return {
    shape: [...conditions.map(({ shape }) => shape), ...order.map((key) => key.join(' '))].join('\n'),
    values: Object.assign({}, ...conditions.map(({ values }) => values)),
    dependsOnValues: conditions.some(({ dependsOnValues }) => dependsOnValues),
    parameterNames: !q ? 'filter' : filters.length === 0 ? 'q' : 'filter and q',
    whereSql() {
      const all = [access.where(), ...conditions.map(({ toSql }) => toSql())].filter((one) => one !== undefined)
      return all.length === 0 ? undefined : builder.raw(all.map(() => '?').join(' and '), all)
    },
    orderSql: () =>
      builder.raw(
        order.map(([, how]) => `?? ${how}`).join(', '),
        order.map(([column]) => column),
      ),
  }
}

/** A column to sort by, and how. */
type OrderKey = readonly [column: string, how: string]

function orderOf(scope: Scope, type: RecordType, hideable: ReadonlySet<string>, sort: readonly SortKey[]): readonly OrderKey[] {
  if (sort.length > maxSortKeys) throw problem('VALIDATION_ERROR', `sort must name at most ${maxSortKeys} keys`)
  const order = sort.map((key, index) => orderKey(scope, type, hideable, key, index === 0))
  return sort.some(({ field }) => field === 'created_at') ? order : [...order, ['id', 'desc']]
}

function orderKey(scope: Scope, type: RecordType, hideable: ReadonlySet<string>, { field: key, dir }: SortKey, isFirst: boolean): OrderKey {
  // The id is made of the time of creation, so it sorts by created_at and needs no index of its own.
  if (key === 'created_at') return ['id', dir]
  const field = requireNamedField(type, hideable, key, 'sort')
  requireSortable(field)
  // An index serves the first key; the others put in order what is equal by it.
  if (isFirst) countFieldUse(scope, field, dir === 'asc' ? 'ascending' : 'descending')
  return [field.column, `${dir} nulls last`]
}

/** The fields that a query of the caller may not name. */
export const hideableFieldsOf = ({ hideable }: RecordAccess, { seeing = [] }: RecordQuery): ReadonlySet<string> =>
  hideable.difference(new Set(seeing))

function seeing(type: RecordType, access: RecordAccess, key: string): QueryCondition {
  const { key: known } = requireNamedField(type, new Set(), key, 'seeing')
  return {
    shape: `seeing ${known}`,
    values: {},
    dependsOnValues: false,
    toSql: () => access.fieldWhere(known) ?? builder.raw('true'),
  }
}

const amongIds = (ids: readonly string[]): QueryCondition => ({
  shape: 'ids',
  values: { ids: ids.filter(isUuid) },
  dependsOnValues: false,
  toSql: () => builder.raw('id = any(?::uuid[])', [slot('ids') as never]),
})

function textCondition(scope: Scope, type: RecordType, access: RecordAccess, q: string): QueryCondition {
  if ([...q].length > maxQueryLength) throw problem('VALIDATION_ERROR', `q must have at most ${maxQueryLength} characters`)
  const fields = type.fields.filter((field) => fieldKinds[field.type].isText)
  for (const field of fields) if (!access.neverVisible.has(field.key)) countSearchUse(scope, field, q)
  const matches = fields.map((field) => {
    const comparison = containsText(q, type.knownTrigrams.get(field.id))
    return { field, matching: comparisonCondition(field.column, comparison, `q ${field.column}`) }
  })
  return {
    shape: `q ${matches.map(({ matching }) => matching.shape).join(' or ')}`,
    values: Object.assign({}, ...matches.map(({ matching }) => matching.values)),
    dependsOnValues: true,
    toSql() {
      if (matches.length === 0) return builder.raw('false')
      const parts = matches.map(({ field, matching }) => visibly(access.fieldWhere(field.key), matching.toSql()))
      return builder.raw(`(${parts.map(() => '?').join(' or ')})`, parts)
    },
  }
}

const visibly = (visible: Knex.Raw | undefined, matching: Knex.Raw): Knex.Raw =>
  visible ? builder.raw('(? and ?)', [visible, matching]) : matching
