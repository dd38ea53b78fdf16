import type { RecordAccess } from '#shared/core/policy/fields/record-access.ts'
import { comparisonCondition, filterCondition, type QueryCondition } from '#shared/core/records/query/filter-conditions.ts'
import { type Filter, requireNamedField } from '#shared/core/records/query/filter-tree.ts'
import { type RefStep, readRefSteps } from '#shared/core/records/references/ref-steps.ts'
import type { StepJoin } from '#shared/core/records/references/step-store.ts'
import { tableOf } from '#shared/core/records/store.ts'
import type { Scope } from '#shared/core/scope/scope.ts'
import { fieldKinds } from '#shared/core/types/field-kinds/field-kinds.ts'
import { requireSortable } from '#shared/core/types/field-kinds/filters/field-filter.ts'
import { containsText } from '#shared/core/types/field-kinds/filters/value-filter.ts'
import { countRuleUses, countSearchUse, countSearchUses, type SearchUse } from '#shared/core/types/indexes/count-use.ts'
import type { RecordType } from '#shared/core/types/record-type.ts'
import { builder, type Knex } from '#shared/platform/db/statements/builder.ts'
import { type Params, uuids } from '#shared/platform/db/statements/sql-types.ts'
import { asSearch, asUnprepared, type Statement, slot } from '#shared/platform/db/statements/statement.ts'
import { problem } from '#shared/platform/kernel/errors.ts'
import { isUuid } from '#shared/platform/kernel/ids.ts'

/**
 * Selects and orders records of a type, for routes, the SDK and other features. It does not contain the caller's rights: the functions that
 * run it add them. `findRecords`, `searchRecords`, `sumRecords` and the export take a query, `createRecordMatcher` its filter.
 */
export interface RecordQuery {
  /** Text that any string or text field contains. */
  readonly q?: string | undefined
  /** Bounded by `readFilterTree` where callers send it. */
  readonly filter?: Filter | undefined
  /** Only records with one of these ids. An id that is not a UUID matches no record. */
  readonly ids?: readonly string[] | undefined
  /**
   * Only records of which the caller may see these fields. The query may then name them although a rule could hide them, as sums over
   * visible values do. Otherwise a query that names such a field is refused.
   */
  readonly seeing?: readonly string[] | undefined
  /** Sort keys in order of precedence, at most `maxSortKeys`. Empty values last, ties newest first. Default: newest first. */
  readonly sort?: readonly SortKey[] | undefined
}

/** The page of a query's records, and the fields to show. */
export interface QueryPage {
  /** Maximum number of records. */
  readonly limit: number
  /** Number of records to skip. */
  readonly offset?: number | undefined
  /** Keys of the fields to show; absent: all fields. */
  readonly fields?: readonly string[] | undefined
}

/** A sort key: the key of a field, or `created_at`. */
export interface SortKey {
  readonly field: string
  readonly dir: 'asc' | 'desc'
}

/** Maximum characters of `q`. */
const maxQueryLength = 500

/** Maximum sort keys in one query. */
const maxSortKeys = 8

/** A query checked for one caller: the shape of its statements, and their values. */
export interface CompiledQuery {
  /** Equal for queries of one caller whose statements differ only in their values: the key of `cachedSearchStatement`. */
  readonly shape: string
  /** The values of the slots in `where`, by name. */
  readonly values: Readonly<Record<string, unknown>>
  /** The types of `values`, for the statement's declaration. */
  readonly params: () => Params
  /** Whether nothing but ids limits the records, and nothing but their creation orders them, so that reading a page of them is no search. */
  readonly isPlain: boolean
  /** Ids of the roles whose conditions limit the records. */
  readonly limitingRoles: readonly string[]
  /** The statement as a search, not prepared where the best plan depends on the values, as for ranges and substrings. */
  readonly asSearch: <Row>(statement: Statement<Row>) => Statement<Row>
  /** The type's table, and the joins that `whereSql` needs. It has each record once. */
  readonly fromSql: () => Knex.Raw
  /** Condition on a record, the caller's rights included, with slots for the values; undefined when every record matches. */
  readonly whereSql: () => Knex.Raw | undefined
  /** Empty values last, ties newest first. */
  readonly orderSql: () => Knex.Raw
}

/**
 * Compiles a query for a caller: its read rights, the filters, and `q` in any string or text field. `q` never matches hidden text. Throws
 * the same VALIDATION_ERROR for an unknown field and for one that a rule could hide.
 */
export async function compileQuery(scope: Scope, type: RecordType, access: RecordAccess, query: RecordQuery): Promise<CompiledQuery> {
  const { filter = [], sort = [], ids, q } = query
  const hideable = hideableFieldsOf(access, query)
  const steps = await readRefSteps(scope, type, filter)
  const joins = new Map<RefStep, StepJoin>()
  const filtered = isEmptyFilter(filter) ? [] : [filterCondition({ type, hideable, steps, joins, nextNumber: 0 }, filter, 'filter')]
  const conditions: QueryCondition[] = [...filtered]
  if (query.seeing) conditions.push(...query.seeing.map((key) => visibilityCondition(type, access, key)))
  if (ids) conditions.push(amongIds(ids))
  if (q) conditions.push(textCondition(scope, type, access, q))
  const order = readOrder(type, hideable, sort)
  // Records that are found by their ids need no other index.
  if (!ids) {
    countRuleUses(scope, type.fields, access)
    for (const { target, access: ofTarget } of steps.values()) countRuleUses(scope, target.fields, ofTarget)
    countSearchUses(scope, [...filtered.flatMap(({ uses }) => uses), ...usesOfOrder(type, sort)])
  }
  const dependsOnValues = conditions.some((condition) => condition.dependsOnValues)
  const named = nameSearch(query, access)
  const limitingRoles = [access, ...[...steps.values()].map((step) => step.access)].flatMap(({ limitingRoles: roles }) => roles)
  return {
    shape: [...conditions.map(({ shape }) => shape), ...order.map((key) => key.join(' '))].join('\n'),
    values: Object.assign({}, ...conditions.map(({ values }) => values)),
    params: () => Object.assign({}, ...conditions.map(({ params }) => params())),
    isPlain: conditions.length === (ids ? 1 : 0) && sort.every(({ field }) => field === 'created_at') && access.verdict === 'all',
    limitingRoles,
    asSearch: (statement) => asSearch(dependsOnValues ? asUnprepared(statement) : statement, named, limitingRoles),
    fromSql() {
      const from = [tableOf(type), ...[...joins.values()].map((join) => join.toSql())]
      return builder.raw(from.map(() => '?').join(' '), from)
    },
    whereSql() {
      const all = [access.where(), ...conditions.map(({ toSql }) => toSql())].filter((one) => one !== undefined)
      return all.length === 0 ? undefined : builder.raw(all.map(() => '?').join(' and '), all)
    },
    orderSql: () =>
      builder.raw(
        order.map(([, direction]) => `?? ${direction}`).join(', '),
        order.map(([column]) => column),
      ),
  }
}

const isEmptyFilter = (filter: Filter): boolean => Array.isArray(filter) && filter.length === 0

/** The parameters to name when the search takes too long; null where only the caller's rules limit the records. */
function nameSearch({ q, filter = [], sort = [] }: RecordQuery, { verdict }: RecordAccess): string | null {
  const names = [...(isEmptyFilter(filter) ? [] : ['filter']), ...(q ? ['q'] : [])]
  if (names.length > 0) return names.join(' and ')
  return verdict === 'some' ? null : sort.length > 0 ? 'sort' : 'the list'
}

/** A column to sort by, and its direction as SQL. */
type OrderKey = readonly [column: string, direction: string]

function readOrder(type: RecordType, hideable: ReadonlySet<string>, sort: readonly SortKey[]): readonly OrderKey[] {
  if (sort.length > maxSortKeys) throw problem('VALIDATION_ERROR', `sort must name at most ${maxSortKeys} keys`)
  const order = sort.map((key) => readOrderKey(type, hideable, key))
  return sort.some(({ field }) => field === 'created_at') ? order : [...order, ['id', 'desc']]
}

function readOrderKey(type: RecordType, hideable: ReadonlySet<string>, { field: key, dir }: SortKey): OrderKey {
  // An id starts with the time of creation, so it sorts by created_at, and created_at needs no index.
  if (key === 'created_at') return ['id', dir]
  const field = requireNamedField(type, hideable, key, 'sort')
  requireSortable(field)
  return [field.column, `${dir} nulls last`]
}

/** An index serves only the first key; the others order its ties. */
function usesOfOrder(type: RecordType, [first]: readonly SortKey[]): readonly SearchUse[] {
  const field = first && type.fieldByKey.get(first.field)
  return field ? [{ field, use: first.dir === 'asc' ? 'ascending' : 'descending', isOfAll: true }] : []
}

/** Keys of the fields that the caller's query must not name. */
export const hideableFieldsOf = ({ hideable }: RecordAccess, { seeing = [] }: RecordQuery): ReadonlySet<string> =>
  hideable.difference(new Set(seeing))

function visibilityCondition(type: RecordType, access: RecordAccess, key: string): QueryCondition {
  const { key: known } = requireNamedField(type, new Set(), key, 'seeing')
  return {
    shape: `seeing ${known}`,
    values: {},
    params: () => ({}),
    dependsOnValues: false,
    toSql: () => access.fieldWhere(known) ?? builder.raw('true'),
  }
}

const amongIds = (ids: readonly string[]): QueryCondition => ({
  shape: 'ids',
  values: { ids: ids.filter(isUuid) },
  params: () => ({ ids: uuids }),
  dependsOnValues: false,
  toSql: () => builder.raw('id = any(?::uuid[])', [slot('ids')]),
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
    params: () => Object.assign({}, ...matches.map(({ matching }) => matching.params())),
    dependsOnValues: true,
    toSql() {
      if (matches.length === 0) return builder.raw('false')
      const parts = matches.map(({ field, matching }) => whereVisible(access.fieldWhere(field.key), matching.toSql()))
      return builder.raw(`(${parts.map(() => '?').join(' or ')})`, parts)
    },
  }
}

const whereVisible = (visible: Knex.Raw | undefined, matching: Knex.Raw): Knex.Raw =>
  visible ? builder.raw('(? and ?)', [visible, matching]) : matching
