import type { Scope } from '#shared/core/scope/scope.ts'
import type { Comparison } from '#shared/core/types/field-kinds/field-kind.ts'
import {
  comparisonSql,
  readEmptinessFilter,
  readFilter,
  readMembershipFilter,
} from '#shared/core/types/field-kinds/filters/field-filter.ts'
import type { Field } from '#shared/core/types/fields/field.ts'
import { countFieldUse, countFilterUse } from '#shared/core/types/indexes/count-use.ts'
import type { RecordType } from '#shared/core/types/record-type.ts'
import type { Knex } from '#shared/platform/db/statements/builder.ts'
import { slot } from '#shared/platform/db/statements/statement.ts'
import { problem } from '#shared/platform/kernel/errors.ts'

/** A comparison as callers write it (document 1, Search mode): without an operator the type's own one counts, and the value is its text. */
export interface ValueFilter {
  readonly field: string
  readonly op?: string | undefined
  readonly value: string
}

/** A condition of a query. The second and third kinds are for work inside Kontor: one of several values, no value or any. */
export type RecordFilter =
  | ValueFilter
  | { readonly field: string; readonly among: readonly string[] }
  | { readonly field: string; readonly empty: boolean }

/** One condition of a query: SQL with slots, made when it is wanted, and its values. */
export interface QueryCondition {
  readonly shape: string
  readonly values: Readonly<Record<string, unknown>>
  readonly dependsOnValues: boolean
  readonly toSql: () => Knex.Raw
}

/** A filter as read: its field and what it asks of the field's value, in SQL and in memory. Throws VALIDATION_ERROR that names `path`. */
export function readRecordFilter(
  type: RecordType,
  hideable: ReadonlySet<string>,
  filter: RecordFilter,
  path: string,
): Comparison & { readonly field: Field; readonly operator: string } {
  const field = requireNamedField(type, hideable, filter.field, `${path}.field`)
  if ('among' in filter) return { field, operator: 'among', ...readMembershipFilter(field, filter.among, path) }
  if ('empty' in filter) return { field, operator: 'empty', ...readEmptinessFilter(filter.empty) }
  return { field, ...readFilter(field, filter, path, type.knownTrigrams.get(field.id)) }
}

/** The condition of a filter; counts that its field was searched by. */
export function filterCondition(
  scope: Scope,
  type: RecordType,
  hideable: ReadonlySet<string>,
  filter: RecordFilter,
  path: string,
): QueryCondition {
  const { field, operator, ...read } = readRecordFilter(type, hideable, filter, path)
  if ('value' in filter) countFilterUse(scope, field, filter)
  else if ('among' in filter) countFieldUse(scope, field, 'equality')
  return { ...comparisonCondition(field.column, read, path), dependsOnValues: operator !== 'eq' }
}

/** The condition of a comparison; `name` is that of its slots, which no other condition of the query has. */
export function comparisonCondition(column: string, { sql, values }: Comparison, name: string): Omit<QueryCondition, 'dependsOnValues'> {
  const names = values.map((_, index) => `${name} ${index}`)
  return {
    shape: `${column} ${sql}`,
    values: Object.fromEntries(names.map((name, index) => [name, values[index]])),
    toSql: () => comparisonSql(column, { sql }, names.map(slot)),
  }
}

/** A field that the caller may name: none that is `hideable`. One that a rule could hide reads as one that is not there: its name is no secret to give away. */
export function requireNamedField(type: RecordType, hideable: ReadonlySet<string>, key: string, path: string): Field {
  const field = type.fieldByKey.get(key)
  if (!field || hideable.has(key)) throw problem('VALIDATION_ERROR', `${path} must be a field of ${type.key} that you may read, got ${key}`)
  return field
}
