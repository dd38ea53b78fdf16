import type { RecordAccess } from '#shared/access/record-access.ts'
import type { Scope } from '#shared/access/scope.ts'
import { builder, type Knex } from '#shared/db/builder.ts'
import { problem } from '#shared/kernel/errors.ts'
import { type Filter, parseFilters, type SearchQuery } from '#shared/records/search-query.ts'
import type { Field } from '#shared/types/fields/field.ts'
import { contains } from '#shared/types/fields/filter.ts'
import { fieldKinds } from '#shared/types/fields/kinds.ts'
import { filterCondition, requireSortable } from '#shared/types/fields/search.ts'
import { noteFilter, noteRules, noteSearch, noteUse } from '#shared/types/indexes/uses.ts'
import type { RecordType } from '#shared/types/record-type.ts'

/** Characters of `q`; a longer text is refused. */
export const maxQueryLength = 500

/**
 * The conditions of a search: what the caller may read, the filters, and `q` in any string or text field, which never matches text that
 * is hidden. Throws VALIDATION_ERROR for a field that is not there or that any rule could hide, told alike.
 */
export function searchConditions(scope: Scope, type: RecordType, access: RecordAccess, query: SearchQuery): Knex.Raw[] {
  const conditions = parseFilters(query.filter).map((filter, index) => filterOf(scope, type, access, filter, `filter[${index}]`))
  if (query.q) conditions.push(textCondition(scope, type, access, query.q))
  const readable = access.where()
  noteRules(scope, type.fields, access)
  if (readable) conditions.unshift(readable)
  return conditions
}

/** Whether the best plan of a search depends on the values that it asks for, as for ranges and parts of text. */
export function dependsOnValues(type: RecordType, { q, filter }: SearchQuery): boolean {
  const operatorOf = ({ field, op }: Filter) => op ?? fieldKinds[type.fieldByKey.get(field)?.type ?? 'string'].filter?.byDefault
  return Boolean(q) || parseFilters(filter).some((one) => operatorOf(one) !== 'eq')
}

/** Keys to sort by in one search. */
export const maxSortKeys = 8

/**
 * The order of a search: by fields or created_at, one key after the other, empty values last, ties newest first (decisions, Records,
 * types, fields). One direction counts for all keys; several belong to the keys in turn.
 */
export function searchOrder(
  scope: Scope,
  type: RecordType,
  access: RecordAccess,
  { sort = 'created_at', dir = 'desc' }: SearchQuery,
): Knex.Raw {
  const [keys, directions] = [sort.split(','), dir.split(',')]
  if (keys.length > maxSortKeys) throw problem('VALIDATION_ERROR', `sort must name at most ${maxSortKeys} keys`)
  if (directions.length > 1 && directions.length !== keys.length) {
    throw problem(
      'VALIDATION_ERROR',
      `dir must be one direction or one for each of the ${keys.length} keys of sort, got ${directions.length}`,
    )
  }
  const parts = keys.map((key, index) => orderBy(scope, type, access, key, directions[index] ?? directions[0] ?? 'desc', index === 0))
  if (!keys.includes('created_at')) parts.push(builder.raw('id desc'))
  return builder.raw(parts.map(() => '?').join(', '), parts)
}

function orderBy(scope: Scope, type: RecordType, access: RecordAccess, key: string, dir: string, isFirst: boolean): Knex.Raw {
  if (dir !== 'asc' && dir !== 'desc') throw problem('VALIDATION_ERROR', `dir must be asc or desc, got ${dir}`)
  // The id is made of the time of creation, so it sorts by created_at and needs no index of its own.
  if (key === 'created_at') return builder.raw(`id ${dir}`)
  const field = usable(type, access, key, 'sort')
  requireSortable(field)
  // An index serves the first key; the others put in order what is equal by it.
  if (isFirst) noteUse(scope, field, dir === 'asc' ? 'ascending' : 'descending')
  return builder.raw(`?? ${dir} nulls last`, [field.column])
}

function filterOf(scope: Scope, type: RecordType, access: RecordAccess, filter: Filter, path: string): Knex.Raw {
  const field = usable(type, access, filter.field, `${path}.field`)
  const condition = filterCondition(field, field, { op: filter.op, value: filter.value }, path)
  noteFilter(scope, field, filter)
  return condition
}

/** A field that the caller may name. One that a rule could hide reads as one that is not there: its name is no secret to give away. */
function usable(type: RecordType, access: RecordAccess, key: string, path: string): Field {
  const field = type.fieldByKey.get(key)
  if (!field || access.hideable.has(key))
    throw problem('VALIDATION_ERROR', `${path} must be a field of ${type.key} that you may read, got ${key}`)
  return field
}

function textCondition(scope: Scope, type: RecordType, access: RecordAccess, q: string): Knex.Raw {
  if ([...q].length > maxQueryLength) throw problem('VALIDATION_ERROR', `q must have at most ${maxQueryLength} characters`)
  const matches = type.fields
    .filter((field) => fieldKinds[field.type].isText)
    .map((field) => {
      const visible = access.fieldWhere(field.key)
      if (!access.neverVisible.has(field.key)) noteSearch(scope, field, q)
      const matching = contains(field.column, q)
      return visible ? builder.raw('(? and ?)', [visible, matching]) : matching
    })
  if (matches.length === 0) return builder.raw('false')
  return builder.raw(`(${matches.map(() => '?').join(' or ')})`, matches)
}
