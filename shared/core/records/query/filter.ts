import type { RecordAccess } from '#shared/core/policy/fields/record-access.ts'
import { type Condition, conditionTarget, type Filter, partsOf } from '#shared/core/records/query/filter-tree.ts'
import type { StoredRecord } from '#shared/core/records/record.ts'
import type { Scope } from '#shared/core/scope/scope.ts'
import type { Comparison } from '#shared/core/types/field-kinds/field-kind.ts'
import { comparisonSql, readFilter } from '#shared/core/types/field-kinds/filters/field-filter.ts'
import { countFilterUse } from '#shared/core/types/indexes/count-use.ts'
import type { RecordType } from '#shared/core/types/record-type.ts'
import { builder, type Knex } from '#shared/platform/db/statements/builder.ts'
import type { Params } from '#shared/platform/db/statements/sql-types.ts'
import { slot } from '#shared/platform/db/statements/statement.ts'
import { Problem } from '#shared/platform/kernel/errors.ts'

/** One condition of a query: SQL with slots and their types, made on demand, and the values of the slots. */
export interface QueryCondition {
  readonly shape: string
  readonly values: Readonly<Record<string, unknown>>
  readonly params: () => Params
  readonly dependsOnValues: boolean
  readonly toSql: () => Knex.Raw
}

/**
 * Compiles a filter to a test of records in memory, such as the snapshot of an event. It accepts exactly the records that `findRecords`
 * would find for this access, the reader's rights included. Throws VALIDATION_ERROR as a query does.
 */
export function createRecordMatcher(type: RecordType, access: RecordAccess, filter: Filter): (record: StoredRecord) => boolean {
  const matches = compileTest(type, access.hideable, filter, 'filter')
  return (record) => access.test(record) && matches(record)
}

/**
 * Compiles a stored filter to a test of records, whoever reads them. No record passes where the filter no longer fits the type: a field is
 * gone, or has another type.
 */
export const createStoredTest = (type: RecordType, filter: Filter): ((record: StoredRecord) => boolean) =>
  orNone(() => compileTest(type, new Set(), filter, 'filter'))

/** The test that `compile` returns; one that no record passes where it throws VALIDATION_ERROR. */
export function orNone(compile: () => (record: StoredRecord) => boolean): (record: StoredRecord) => boolean {
  try {
    return compile()
  } catch (error) {
    if (error instanceof Problem && error.code === 'VALIDATION_ERROR') return () => false
    throw error
  }
}

/** Throws VALIDATION_ERROR that names `path` where a filter does not fit the type, or names a field that a rule could hide. */
export function requireFilter(type: RecordType, hideable: ReadonlySet<string>, filter: Filter, path: string): void {
  compileTest(type, hideable, filter, path)
}

function compileTest(type: RecordType, hideable: ReadonlySet<string>, filter: Filter, path: string): (record: StoredRecord) => boolean {
  const parts = partsOf(filter, path)
  if (!parts) {
    const { target, comparison } = readCondition(type, hideable, filter as Condition, path)
    return (record) => comparison.matches(target.valueOf(record))
  }
  const tests = parts.filters.map((part) => compileTest(type, hideable, part.filter, part.path))
  if (parts.joinedBy === 'not') return (record) => tests.every((test) => !test(record))
  if (parts.joinedBy === 'or') return (record) => tests.some((test) => test(record))
  return (record) => tests.every((test) => test(record))
}

/** What compiles the conditions of one query. */
export interface FilterCompiler {
  readonly scope: Scope
  readonly type: RecordType
  readonly hideable: ReadonlySet<string>
  /** The next number of a condition; it makes the names of slots unique. */
  nextNumber: number
}

/** The condition of a filter. Counts the search by the fields that an index could serve: those outside of `not`. */
export function filterCondition(compiler: FilterCompiler, filter: Filter, path: string, isServed = true): QueryCondition {
  const parts = partsOf(filter, path)
  if (!parts) return fieldCondition(compiler, filter as Condition, path, isServed)
  const { joinedBy } = parts
  const conditions = parts.filters.map((part) => filterCondition(compiler, part.filter, part.path, isServed && joinedBy !== 'not'))
  const shape = conditions.map((condition) => `(${condition.shape})`).join(` ${joinedBy} `)
  return {
    shape: joinedBy === 'not' ? `not ${shape}` : `${joinedBy} ${shape}`,
    values: Object.assign({}, ...conditions.map(({ values }) => values)),
    params: () => Object.assign({}, ...conditions.map(({ params }) => params())),
    dependsOnValues: conditions.some(({ dependsOnValues }) => dependsOnValues),
    toSql: () =>
      joinConditions(
        joinedBy,
        conditions.map(({ toSql }) => toSql()),
      ),
  }
}

/** Joins conditions. A condition that PostgreSQL finds unknown, of a missing value, is false, so `not` makes it true. */
function joinConditions(joinedBy: 'and' | 'or' | 'not', conditions: readonly Knex.Raw[]): Knex.Raw {
  if (joinedBy === 'not') return builder.raw('(?) is not true', conditions)
  if (conditions.length === 0) return builder.raw(joinedBy === 'and' ? 'true' : 'false')
  return builder.raw(`(${conditions.map(() => '?').join(` ${joinedBy} `)})`, conditions)
}

function fieldCondition(compiler: FilterCompiler, condition: Condition, path: string, isServed: boolean): QueryCondition {
  const { scope, type, hideable } = compiler
  const { target, comparison } = readCondition(type, hideable, condition, path)
  if (isServed && target.field) countFilterUse(scope, target.field, comparison.operator, condition.value)
  const name = `filter ${compiler.nextNumber++}`
  return { ...comparisonCondition(target.column, comparison, name), dependsOnValues: comparison.operator !== 'eq' }
}

function readCondition(type: RecordType, hideable: ReadonlySet<string>, condition: Condition, path: string) {
  const target = conditionTarget(type, hideable, condition.field, `${path}.field`)
  const known = target.field && type.knownTrigrams.get(target.field.id)
  return { target, comparison: readFilter(target, condition, path, known) }
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
