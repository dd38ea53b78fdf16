import { builder, type Knex } from '#shared/db/builder.ts'
import { slot } from '#shared/db/statement.ts'
import { problem } from '#shared/kernel/errors.ts'
import type { RecordAccess } from '#shared/policy/record-access.ts'
import { type Filter, parseFilters, type SearchQuery } from '#shared/records/search-query.ts'
import type { Scope } from '#shared/scope/scope.ts'
import type { Field } from '#shared/types/fields/field.ts'
import { contains } from '#shared/types/fields/filter.ts'
import type { Comparison } from '#shared/types/fields/kind.ts'
import { fieldKinds } from '#shared/types/fields/kinds.ts'
import { comparing, readFilter, requireSortable } from '#shared/types/fields/search.ts'
import { noteFilter, noteRules, noteSearch, noteUse } from '#shared/types/indexes/uses.ts'
import type { RecordType } from '#shared/types/record-type.ts'

/** A search as read and checked for one caller: what its statements look like, and what they are filled with. */
export interface Search {
  /** The same text for searches of one caller whose statements differ in their values alone (`shaped`). */
  readonly shape: string
  /** The values of the slots in `where`, by name. */
  readonly values: Readonly<Record<string, unknown>>
  /** Whether the best plan depends on the values, as for ranges and parts of text. */
  readonly dependsOnValues: boolean
  /** What must hold of a record, with slots for the values; undefined when all are searched for. */
  readonly where: () => Knex.Raw | undefined
  /** Empty values last, ties newest first. */
  readonly order: () => Knex.Raw
}

/** One condition of a search: SQL with slots, made when it is wanted, and its values. */
interface Condition {
  readonly shape: string
  readonly values: Readonly<Record<string, unknown>>
  readonly dependsOnValues: boolean
  readonly where: () => Knex.Raw
}

/**
 * Reads what a search asks for: what the caller may read, the filters, and `q` in any string or text field, which never matches text that
 * is hidden. Throws VALIDATION_ERROR for a field that is not there or that any rule could hide, told alike.
 */
export function readSearch(scope: Scope, type: RecordType, access: RecordAccess, query: SearchQuery): Search {
  const conditions = parseFilters(query.filter).map((filter, index) => filterOf(scope, type, access, filter, index))
  if (query.q) conditions.push(textCondition(scope, type, access, query.q))
  noteRules(scope, type.fields, access)
  const order = readOrder(scope, type, access, query)
  return {
    shape: [...conditions.map(({ shape }) => shape), ...order.map((key) => key.join(' '))].join('\n'),
    values: Object.assign({}, ...conditions.map(({ values }) => values)),
    dependsOnValues: conditions.some(({ dependsOnValues }) => dependsOnValues),
    where() {
      const all = [access.where(), ...conditions.map(({ where }) => where())].filter((one) => one !== undefined)
      return all.length === 0 ? undefined : builder.raw(all.map(() => '?').join(' and '), all)
    },
    order: () =>
      builder.raw(
        order.map(([, how]) => `?? ${how}`).join(', '),
        order.map(([column]) => column),
      ),
  }
}

/** Characters of `q`; a longer text is refused. */
export const maxQueryLength = 500

/** Keys to sort by in one search. */
export const maxSortKeys = 8

/** A column to sort by, and how. */
type SortKey = readonly [column: string, how: string]

/**
 * The order of a search: by fields or created_at, one key after the other, empty values last, ties newest first (decisions, Records,
 * types, fields). One direction counts for all keys; several belong to the keys in turn.
 */
function readOrder(
  scope: Scope,
  type: RecordType,
  access: RecordAccess,
  { sort = 'created_at', dir = 'desc' }: SearchQuery,
): readonly SortKey[] {
  const [keys, directions] = [sort.split(','), dir.split(',')]
  if (keys.length > maxSortKeys) throw problem('VALIDATION_ERROR', `sort must name at most ${maxSortKeys} keys`)
  if (directions.length > 1 && directions.length !== keys.length) {
    throw problem(
      'VALIDATION_ERROR',
      `dir must be one direction or one for each of the ${keys.length} keys of sort, got ${directions.length}`,
    )
  }
  const order = keys.map((key, index) => sortKey(scope, type, access, key, directions[index] ?? directions[0] ?? 'desc', index === 0))
  return keys.includes('created_at') ? order : [...order, ['id', 'desc']]
}

function sortKey(scope: Scope, type: RecordType, access: RecordAccess, key: string, dir: string, isFirst: boolean): SortKey {
  if (dir !== 'asc' && dir !== 'desc') throw problem('VALIDATION_ERROR', `dir must be asc or desc, got ${dir}`)
  // The id is made of the time of creation, so it sorts by created_at and needs no index of its own.
  if (key === 'created_at') return ['id', dir]
  const field = usable(type, access, key, 'sort')
  requireSortable(field)
  // An index serves the first key; the others put in order what is equal by it.
  if (isFirst) noteUse(scope, field, dir === 'asc' ? 'ascending' : 'descending')
  return [field.column, `${dir} nulls last`]
}

function filterOf(scope: Scope, type: RecordType, access: RecordAccess, filter: Filter, index: number): Condition {
  const path = `filter[${index}]`
  const field = usable(type, access, filter.field, `${path}.field`)
  const read = readFilter(field, filter, path, type.knownTrigrams.get(field.id))
  noteFilter(scope, field, filter)
  return { ...conditionOf(field.column, read, path), dependsOnValues: read.operator !== 'eq' }
}

/** The condition of a comparison; `name` is that of its slots, which no other condition of the search has. */
function conditionOf(column: string, { sql, values }: Comparison, name: string): Omit<Condition, 'dependsOnValues'> {
  const names = values.map((_, index) => `${name} ${index}`)
  return {
    shape: `${column} ${sql}`,
    values: Object.fromEntries(names.map((name, index) => [name, values[index]])),
    where: () => comparing(column, { sql }, names.map(slot)),
  }
}

/** A field that the caller may name. One that a rule could hide reads as one that is not there: its name is no secret to give away. */
function usable(type: RecordType, access: RecordAccess, key: string, path: string): Field {
  const field = type.fieldByKey.get(key)
  if (!field || access.hideable.has(key))
    throw problem('VALIDATION_ERROR', `${path} must be a field of ${type.key} that you may read, got ${key}`)
  return field
}

function textCondition(scope: Scope, type: RecordType, access: RecordAccess, q: string): Condition {
  if ([...q].length > maxQueryLength) throw problem('VALIDATION_ERROR', `q must have at most ${maxQueryLength} characters`)
  const fields = type.fields.filter((field) => fieldKinds[field.type].isText)
  for (const field of fields) if (!access.neverVisible.has(field.key)) noteSearch(scope, field, q)
  const matches = fields.map((field) => {
    const comparison = contains(q, type.knownTrigrams.get(field.id))
    return { field, matching: conditionOf(field.column, comparison, `q ${field.column}`) }
  })
  return {
    shape: `q ${matches.map(({ matching }) => matching.shape).join(' or ')}`,
    values: Object.assign({}, ...matches.map(({ matching }) => matching.values)),
    dependsOnValues: true,
    where() {
      if (matches.length === 0) return builder.raw('false')
      const parts = matches.map(({ field, matching }) => visibly(access.fieldWhere(field.key), matching.where()))
      return builder.raw(`(${parts.map(() => '?').join(' or ')})`, parts)
    },
  }
}

const visibly = (visible: Knex.Raw | undefined, matching: Knex.Raw): Knex.Raw =>
  visible ? builder.raw('(? and ?)', [visible, matching]) : matching
