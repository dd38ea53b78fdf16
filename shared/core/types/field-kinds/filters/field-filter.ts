import type { Comparison, FilterOperator } from '#shared/core/types/field-kinds/field-kind.ts'
import { fieldKinds } from '#shared/core/types/field-kinds/field-kinds.ts'
import type { KnownTrigrams } from '#shared/core/types/field-kinds/filters/trigrams.ts'
import { invalidValueProblem } from '#shared/core/types/field-kinds/value-problem.ts'
import type { Field } from '#shared/core/types/fields/field.ts'
import { builder, type Knex } from '#shared/platform/db/statements/builder.ts'
import { problem } from '#shared/platform/kernel/errors.ts'

/** One condition of a search on a field (document 1, Search mode); without an operator the type's own one counts. */
export interface FieldFilter {
  readonly op?: string | undefined
  readonly value: string
}

type Searched = Pick<Field, 'key' | 'type'>

/**
 * Reads a filter on a field. Throws VALIDATION_ERROR that names the field and what is allowed when the type cannot be filtered on, does
 * not know the operator, or the value does not suit it. `path` is the filter's; `known` is what is known of the
 * trigrams of the field's values.
 */
export function readFilter(
  { key, type }: Searched,
  { op, value }: FieldFilter,
  path: string,
  known?: KnownTrigrams,
): Comparison & { readonly operator: FilterOperator } {
  const { filter } = fieldKinds[type]
  if (filter === null) throw problem('VALIDATION_ERROR', `${path}.field: ${key} is a ${type} field and cannot be filtered on`)
  const operator = filter.operators.find((known) => known === (op ?? filter.defaultOperator))
  if (operator === undefined)
    throw invalidValueProblem(`${path}.op`, `one of ${filter.operators.join(', ')} for the ${type} field ${key}`, op)
  return { operator, ...filter.read(operator, value, `${path}.value for ${key}`, known) }
}

/** Values that a condition may ask for one of. */
const maxAmong = 10_000

/** Reads a condition that a field's value is one of these, each as `eq` reads it. Throws VALIDATION_ERROR as `readFilter` does. */
export function readMembershipFilter(field: Searched, values: readonly string[], path: string): Comparison {
  if (values.length > maxAmong) throw problem('VALIDATION_ERROR', `${path} must name at most ${maxAmong} values`)
  const each = values.map((value) => readFilter(field, { op: 'eq', value }, path))
  if (each.some((one) => one.values.length !== 1)) throw invalidValueProblem(path, `values of which ${field.key} can hold each`, values)
  return {
    // Without the type's own scale, which would round what is compared.
    sql: `?? = any(?::${fieldKinds[field.type].columns[0].replace(/\(.*\)/, '')}[])`,
    values: [each.map((one) => one.values[0])],
    matches: (value) => each.some(({ matches }) => matches(value)),
  }
}

/** A condition that a field has no value, or that it has one. */
export const readEmptinessFilter = (empty: boolean): Comparison => ({
  sql: empty ? '?? is null' : '?? is not null',
  values: [],
  matches: (value) => (value === null) === empty,
})

/** The SQL condition of a comparison with a field's column; `values`, its own or slots for them, stand in the order of its own. */
export function comparisonSql(column: string, { sql }: Pick<Comparison, 'sql'>, values: readonly unknown[]): Knex.Raw {
  let next = 0
  const bindings = Array.from(sql.matchAll(/\?\??/g), ([place]) => (place === '??' ? column : values[next++]))
  return builder.raw(sql, bindings as Knex.RawBinding[])
}

/** Throws VALIDATION_ERROR when the field's type cannot be sorted by. Its first column is the one to sort by. */
export function requireSortable({ key, type }: Searched, path = 'sort'): void {
  if (!fieldKinds[type].sortable) throw problem('VALIDATION_ERROR', `${path}: ${key} is a ${type} field and cannot be sorted by`)
}
