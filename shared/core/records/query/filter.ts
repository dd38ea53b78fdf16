import type { RecordAccess } from '#shared/core/policy/fields/record-access.ts'
import type { StoredRecord } from '#shared/core/records/record.ts'
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
import type { Params } from '#shared/platform/db/statements/sql-types.ts'
import { slot } from '#shared/platform/db/statements/statement.ts'
import { problem } from '#shared/platform/kernel/errors.ts'

/**
 * A comparison as callers write it (docs/contract/records.md#filters). Without `op` the field type's default operator applies. `value` is
 * text.
 */
export interface ValueFilter {
  readonly field: string
  readonly op?: string | undefined
  readonly value: string
}

/** A condition of a query. The second form (one of several values) and the third (no value, or any value) are internal. */
export type RecordFilter =
  | ValueFilter
  | { readonly field: string; readonly among: readonly string[] }
  | { readonly field: string; readonly empty: boolean }

/** One condition of a query: SQL with slots and their types, made on demand, and the values of the slots. */
export interface QueryCondition {
  readonly shape: string
  readonly values: Readonly<Record<string, unknown>>
  readonly params: () => Params
  readonly dependsOnValues: boolean
  readonly toSql: () => Knex.Raw
}

/** Parses a filter to its field and a comparison, in SQL and in memory. Throws VALIDATION_ERROR that names `path`. */
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

/**
 * Compiles filters to a test of records in memory, such as the snapshot of an event. It accepts exactly the records that `findRecords`
 * would find for this access, the reader's rights included. Throws VALIDATION_ERROR as a query does.
 */
export function createRecordMatcher(
  type: RecordType,
  access: RecordAccess,
  filters: readonly RecordFilter[],
): (record: StoredRecord) => boolean {
  const comparisons = filters.map((filter, index) => readRecordFilter(type, access.hideable, filter, `filter[${index}]`))
  return (record) => access.test(record) && comparisons.every(({ field, matches }) => matches(record.values[field.key] ?? null))
}

/** The condition of a filter. Counts the search by its field. */
export function filterCondition(
  scope: Scope,
  type: RecordType,
  hideable: ReadonlySet<string>,
  filter: RecordFilter,
  path: string,
): QueryCondition {
  const { field, operator, ...comparison } = readRecordFilter(type, hideable, filter, path)
  if ('value' in filter) countFilterUse(scope, field, filter)
  else if ('among' in filter) countFieldUse(scope, field, 'equality')
  return { ...comparisonCondition(field.column, comparison, path), dependsOnValues: operator !== 'eq' }
}

/** The condition of a comparison. `name` prefixes its slots and must be unique in the query. */
export function comparisonCondition(
  column: string,
  { sql, values, valueType }: Comparison,
  name: string,
): Omit<QueryCondition, 'dependsOnValues'> {
  const names = values.map((_, index) => `${name} ${index}`)
  return {
    shape: `${column} ${sql}`,
    values: Object.fromEntries(names.map((name, index) => [name, values[index]])),
    params: () => (valueType ? Object.fromEntries(names.map((each) => [each, valueType])) : {}),
    toSql: () => comparisonSql(column, { sql }, names.map(slot)),
  }
}

/** The field of a key. Throws the same VALIDATION_ERROR for a hideable and an unknown field, so that neither is revealed. */
export function requireNamedField(type: RecordType, hideable: ReadonlySet<string>, key: string, path: string): Field {
  const field = type.fieldByKey.get(key)
  if (!field || hideable.has(key)) throw problem('VALIDATION_ERROR', `${path} must be a field of ${type.key} that you may read, got ${key}`)
  return field
}
