import type { RecordAccess } from '#shared/core/policy/fields/record-access.ts'
import { type Condition, conditionTarget, type Filter, partsOf, requireNamedField, stepOf } from '#shared/core/records/query/filter-tree.ts'
import { accessNumberOf } from '#shared/core/records/query/statement-cache.ts'
import type { StoredRecord } from '#shared/core/records/record.ts'
import type { RefStep, RefSteps } from '#shared/core/records/references/ref-steps.ts'
import { tableOf } from '#shared/core/records/store.ts'
import type { Comparison } from '#shared/core/types/field-kinds/field-kind.ts'
import { comparisonSql, readFilter } from '#shared/core/types/field-kinds/filters/field-filter.ts'
import { type SearchUse, usesOfCondition } from '#shared/core/types/indexes/count-use.ts'
import type { RecordType } from '#shared/core/types/record-type.ts'
import { builder, type Knex } from '#shared/platform/db/statements/builder.ts'
import type { Params } from '#shared/platform/db/statements/sql-types.ts'
import { slot } from '#shared/platform/db/statements/statement.ts'
import { Problem, problem } from '#shared/platform/kernel/errors.ts'

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
 * Compiles a stored filter to a test of records for every reader. The type may have changed since: if a field of the filter is gone or has
 * another type, no record passes.
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

/** The condition of a filter, and the searches by fields that an index could serve. */
export interface FilterCondition extends QueryCondition {
  readonly uses: readonly SearchUse[]
}

/** What compiles the conditions of one query. */
export interface FilterCompiler {
  readonly type: RecordType
  readonly hideable: ReadonlySet<string>
  readonly steps: RefSteps
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
  const step = stepOf(condition.field)
  if (step) return stepCondition(compiler, step, condition, path)
  const { target, comparison } = readCondition(type, hideable, condition, path)
  const uses = target.field ? usesOfCondition(target.field, comparison, condition.value) : []
  const name = `filter ${compiler.nextNumber++}`
  return { ...comparisonCondition(target.column, comparison, name), dependsOnValues: comparison.operator !== 'eq', uses }
}

/**
 * The condition on a field of the record that a `ref` field names. Without that record the value is missing. A record that the caller may
 * not read never meets the condition, whatever its operator (docs/contract/records.md#steps-along-a-reference).
 */
function stepCondition(
  compiler: FilterCompiler,
  [key, field]: readonly [string, string],
  condition: Condition,
  path: string,
): FilterCondition {
  const { type } = compiler
  const step = requireStep(compiler, key, path)
  const { target, comparison } = readCondition(step.target, step.access.hideable, { ...condition, field }, path)
  const isMetByMissing = comparison.matches(null)
  const usesOfTarget = target.field ? usesOfCondition(target.field, comparison, condition.value) : []
  const uses = isMetByMissing ? [] : [{ field: step.field, use: 'reference' as const }, ...usesOfTarget]
  const number = compiler.nextNumber++
  // Keys of types have no capitals, so the alias hides no table.
  const alias = `Step${number}`
  const matching = comparisonCondition(`${alias}.${target.column}`, comparison, `filter ${number}`)
  return {
    ...matching,
    shape: `step ${step.field.column} ${step.target.key} ${accessNumberOf(step.access)} ${matching.shape}`,
    dependsOnValues: true,
    // Fields of two types have no index together.
    uses: uses.map((one) => ({ ...one, isOfAll: false })),
    toSql() {
      const named = builder.raw('select from ? as ?? where ?? = ??', [
        ...[tableOf(step.target), alias],
        ...[`${alias}.id`, `${type.key}.${step.field.column}`],
      ])
      const readable = step.access.where(alias) ?? builder.raw('true')
      const met = builder.raw('exists (? and ? and ?)', [named, readable, matching.toSql()])
      return isMetByMissing ? builder.raw('(? or not exists (?))', [met, named]) : met
    },
  }
}

/** Throws the same VALIDATION_ERROR where the field is hideable or unknown, and where no record of the target may be read. */
function requireStep({ type, hideable, steps }: FilterCompiler, key: string, path: string): RefStep {
  const { type: fieldType, rules } = requireNamedField(type, hideable, key, `${path}.field`)
  if (fieldType !== 'ref')
    throw problem('VALIDATION_ERROR', `${path}.field: ${key} is a ${fieldType} field; only a ref field can be followed`)
  const step = steps.get(key)
  if (!step || step.access.verdict === 'none')
    throw problem('VALIDATION_ERROR', `${path}.field: ${key} leads to records of ${rules.ref_type}, which you may not read`)
  return step
}

function readCondition(type: RecordType, hideable: ReadonlySet<string>, condition: Condition, path: string) {
  if (stepOf(condition.field))
    throw problem('VALIDATION_ERROR', `${path}.field must be a field of ${type.key} itself here, got ${condition.field}`)
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
