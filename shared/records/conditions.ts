import type { RecordAccess } from '#shared/access/record-access.ts'
import { builder, type Knex } from '#shared/db/builder.ts'
import { problem } from '#shared/kernel/errors.ts'
import { type Filter, parseFilters, type SearchQuery } from '#shared/records/search-query.ts'
import type { Field } from '#shared/types/fields/field.ts'
import { contains } from '#shared/types/fields/filter.ts'
import { fieldKinds } from '#shared/types/fields/kinds.ts'
import { filterCondition, requireSortable } from '#shared/types/fields/search.ts'
import type { RecordType } from '#shared/types/record-type.ts'

/** Characters of `q`; a longer text is refused. */
export const maxQueryLength = 500

/**
 * The conditions of a search: what the caller may read, the filters, and `q` in any string or text field, which never matches text that
 * is hidden. Throws VALIDATION_ERROR for a field that is not there or that any rule could hide, told alike.
 */
export function searchConditions(type: RecordType, access: RecordAccess, query: SearchQuery): Knex.Raw[] {
  const conditions = parseFilters(query.filter).map((filter, index) => filterOf(type, access, filter, `filter[${index}]`))
  if (query.q) conditions.push(textCondition(type, access, query.q))
  const readable = access.where()
  if (readable) conditions.unshift(readable)
  return conditions
}

/** The order of a search: by a field or created_at, empty values last, ties newest first (decisions, Records, types, fields). */
export function searchOrder(type: RecordType, access: RecordAccess, { sort, dir = 'desc' }: SearchQuery): Knex.Raw {
  // The id is made of the time of creation, so it sorts by created_at and needs no index of its own.
  if (sort === undefined || sort === 'created_at') return builder.raw(`id ${dir}`)
  const field = usable(type, access, sort, 'sort')
  requireSortable(field)
  return builder.raw(`?? ${dir} nulls last, id desc`, [field.column])
}

function filterOf(type: RecordType, access: RecordAccess, filter: Filter, path: string): Knex.Raw {
  const field = usable(type, access, filter.field, `${path}.field`)
  return filterCondition(field, field, { op: filter.op, value: filter.value }, path)
}

/** A field that the caller may name. One that a rule could hide reads as one that is not there: its name is no secret to give away. */
function usable(type: RecordType, access: RecordAccess, key: string, path: string): Field {
  const field = type.fieldByKey.get(key)
  if (!field || access.hideable.has(key))
    throw problem('VALIDATION_ERROR', `${path} must be a field of ${type.key} that you may read, got ${key}`)
  return field
}

function textCondition(type: RecordType, access: RecordAccess, q: string): Knex.Raw {
  if ([...q].length > maxQueryLength) throw problem('VALIDATION_ERROR', `q must have at most ${maxQueryLength} characters`)
  const matches = type.fields
    .filter((field) => fieldKinds[field.type].isText)
    .map((field) => {
      const visible = access.fieldWhere(field.key)
      const matching = contains(field.column, q)
      return visible ? builder.raw('(? and ?)', [visible, matching]) : matching
    })
  if (matches.length === 0) return builder.raw('false')
  return builder.raw(`(${matches.map(() => '?').join(' or ')})`, matches)
}
