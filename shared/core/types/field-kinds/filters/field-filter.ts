import { listTypeOf } from '#shared/core/types/field-kinds/column-types.ts'
import type { Comparison, FilterOperator } from '#shared/core/types/field-kinds/field-kind.ts'
import { fieldKinds } from '#shared/core/types/field-kinds/field-kinds.ts'
import type { KnownTrigrams } from '#shared/core/types/field-kinds/filters/trigrams.ts'
import { invalidValueProblem } from '#shared/core/types/field-kinds/value-problem.ts'
import type { Field } from '#shared/core/types/fields/field.ts'
import { builder, type Knex } from '#shared/platform/db/statements/builder.ts'
import { problem } from '#shared/platform/kernel/errors.ts'

/** One search condition on a field (docs/contract/records.md#filters). Without `op` the type's default operator applies. */
export interface FieldFilter {
  readonly op?: string | undefined
  readonly value: string
}

type FilteredField = Pick<Field, 'key' | 'type'>

/**
 * Parses a filter on a field. Throws VALIDATION_ERROR that names the field and the allowed input when the type cannot be filtered on, does
 * not support the operator, or the value does not fit it. `path` is the filter's; `known` holds the trigram statistics of the field's
 * values.
 */
export function readFilter(
  { key, type }: FilteredField,
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

/** Maximum values of a membership condition. */
const maxMembers = 10_000

/** Parses the condition that a field equals one of `values`, each parsed as for `eq`. Throws VALIDATION_ERROR like `readFilter`. */
export function readMembershipFilter(field: FilteredField, values: readonly string[], path: string): Comparison {
  if (values.length > maxMembers) throw problem('VALIDATION_ERROR', `${path} must name at most ${maxMembers} values`)
  const comparisons = values.map((value) => readFilter(field, { op: 'eq', value }, path))
  if (comparisons.some((comparison) => comparison.values.length !== 1))
    throw invalidValueProblem(path, `values of which ${field.key} can hold each`, values)
  const [column] = fieldKinds[field.type].columns
  return {
    // Without the column type's scale, which would round the operands.
    sql: `?? = any(?::${column.replace(/\(.*\)/, '')}[])`,
    valueType: listTypeOf(column),
    values: [comparisons.map((comparison) => comparison.values[0])],
    matches: (value) => comparisons.some(({ matches }) => matches(value)),
  }
}

/** The condition that a field has no value, or that it has one. */
export const readEmptinessFilter = (empty: boolean): Comparison => ({
  sql: empty ? '?? is null' : '?? is not null',
  values: [],
  matches: (value) => (value === null) === empty,
})

/** Builds the SQL of a comparison on a column. `values` are the comparison's values, or placeholders for them, in the same order. */
export function comparisonSql(column: string, { sql }: Pick<Comparison, 'sql'>, values: readonly unknown[]): Knex.Raw {
  let next = 0
  const bindings = Array.from(sql.matchAll(/\?\??/g), ([placeholder]) => (placeholder === '??' ? column : values[next++]))
  return builder.raw(sql, bindings as Knex.RawBinding[])
}

/** Throws VALIDATION_ERROR when the field's type cannot be sorted by. The sort column is the field's first. */
export function requireSortable({ key, type }: FilteredField, path = 'sort'): void {
  if (!fieldKinds[type].sortable) throw problem('VALIDATION_ERROR', `${path}: ${key} is a ${type} field and cannot be sorted by`)
}
