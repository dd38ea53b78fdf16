import type { RecordAccess } from '#shared/core/policy/fields/record-access.ts'
import { type Condition, conditionTarget, type Filter, partsOf } from '#shared/core/records/query/filter-tree.ts'
import type { StoredRecord } from '#shared/core/records/record.ts'
import type { Comparison } from '#shared/core/types/field-kinds/field-kind.ts'
import { comparisonSql, readFilter } from '#shared/core/types/field-kinds/filters/field-filter.ts'
import { type SearchUse, usesOfCondition } from '#shared/core/types/indexes/count-use.ts'
import type { RecordType } from '#shared/core/types/record-type.ts'
import { builder, type Knex } from '#shared/platform/db/statements/builder.ts'
import type { Params } from '#shared/platform/db/statements/sql-types.ts'
import { slot } from '#shared/platform/db/statements/statement.ts'

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

/** The condition of a filter, and the searches by fields that an index could serve. */
export interface FilterCondition extends QueryCondition {
  readonly uses: readonly SearchUse[]
}

/** What compiles the conditions of one query. */
export interface FilterCompiler {
  readonly type: RecordType
  readonly hideable: ReadonlySet<string>
  /** The next number of a condition; it makes the names of slots unique. */
  nextNumber: number
}

/** The condition of a filter. */
export function filterCondition(compiler: FilterCompiler, filter: Filter, path: string): FilterCondition {
  const parts = partsOf(filter, path)
  if (!parts) return fieldCondition(compiler, filter as Condition, path)
  const { joinedBy } = parts
  const conditions = parts.filters.map((part) => filterCondition(compiler, part.filter, part.path))
  const shape = conditions.map((condition) => `(${condition.shape})`).join(` ${joinedBy} `)
  return {
    uses: joinUses(joinedBy, conditions),
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

/** Indexes serve no `not`, and `any` only where they serve each of its branches. */
function joinUses(joinedBy: 'and' | 'or' | 'not', conditions: readonly FilterCondition[]): readonly SearchUse[] {
  if (joinedBy === 'and') return conditions.flatMap(({ uses }) => uses)
  if (joinedBy === 'not' || conditions.some(({ uses }) => uses.length === 0)) return []
  return conditions.flatMap(({ uses }) => uses.map((use) => ({ ...use, isOfAll: false })))
}

/** Joins conditions. A condition that PostgreSQL finds unknown, of a missing value, is false, so `not` makes it true. */
function joinConditions(joinedBy: 'and' | 'or' | 'not', conditions: readonly Knex.Raw[]): Knex.Raw {
  if (joinedBy === 'not') return builder.raw('(?) is not true', conditions)
  if (conditions.length === 0) return builder.raw(joinedBy === 'and' ? 'true' : 'false')
  return builder.raw(`(${conditions.map(() => '?').join(` ${joinedBy} `)})`, conditions)
}

function fieldCondition(compiler: FilterCompiler, condition: Condition, path: string): FilterCondition {
  const { type, hideable } = compiler
  const { target, comparison } = readCondition(type, hideable, condition, path)
  const uses = target.field ? usesOfCondition(target.field, comparison, condition.value) : []
  const name = `filter ${compiler.nextNumber++}`
  return { ...comparisonCondition(target.column, comparison, name), dependsOnValues: comparison.operator !== 'eq', uses }
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
