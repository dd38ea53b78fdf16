import { readCondition } from '#shared/core/records/query/filter.ts'
import { type Condition, type Filter, type Part, partsOf, requireNamedField, stepOf } from '#shared/core/records/query/filter-tree.ts'
import { accessNumberOf } from '#shared/core/records/query/statement-cache.ts'
import type { RefStep, RefSteps } from '#shared/core/records/references/ref-steps.ts'
import { StepJoin, stepSubquery } from '#shared/core/records/references/step-store.ts'
import type { Comparison } from '#shared/core/types/field-kinds/field-kind.ts'
import { comparisonSql } from '#shared/core/types/field-kinds/filters/field-filter.ts'
import { type SearchUse, usesOfCondition } from '#shared/core/types/indexes/count-use.ts'
import type { RecordType } from '#shared/core/types/record-type.ts'
import { builder, type Knex } from '#shared/platform/db/statements/builder.ts'
import type { Params } from '#shared/platform/db/statements/sql-types.ts'
import { slot } from '#shared/platform/db/statements/statement.ts'
import { problem } from '#shared/platform/kernel/errors.ts'

/** One condition of a query: SQL with slots and their types, made on demand, and the values of the slots. */
export interface QueryCondition {
  readonly shape: string
  readonly values: Readonly<Record<string, unknown>>
  readonly params: () => Params
  readonly dependsOnValues: boolean
  readonly toSql: () => Knex.Raw
}

/** The condition of a filter, and the searches by fields that an index could serve. */
interface FilterCondition extends QueryCondition {
  readonly uses: readonly SearchUse[]
}

/** What compiles the conditions of one query. */
interface FilterCompiler {
  readonly type: RecordType
  readonly hideable: ReadonlySet<string>
  readonly steps: RefSteps
  /** The joins that the conditions need. */
  readonly joins: Map<RefStep, StepJoin>
  /** The next number of a condition; it makes the names of slots unique. */
  nextNumber: number
}

/** The condition of a filter. */
export function filterCondition(compiler: FilterCompiler, filter: Filter, path: string): FilterCondition {
  const parts = partsOf(filter, path)
  if (!parts) {
    const key = stepKeyOf(filter)
    return key === undefined
      ? fieldCondition(compiler, filter as Condition, path)
      : stepConditions(compiler, key, 'and', [{ filter, path }])
  }
  const { joinedBy, filters } = parts
  const groups = Map.groupBy(filters, (part) => stepKeyOf(part.filter) ?? part)
  const conditions = [...groups].map(([key, group]) =>
    typeof key === 'string'
      ? stepConditions(compiler, key, joinedBy === 'or' ? 'or' : 'and', group)
      : filterCondition(compiler, key.filter, key.path),
  )
  return joinConditions(joinedBy, conditions)
}

/** The key of the `ref` field along which a condition steps; undefined for any other filter. */
const stepKeyOf = (filter: Filter): string | undefined => ('field' in filter ? stepOf(filter.field)?.[0] : undefined)

type Joint = 'and' | 'or' | 'not'

function joinConditions(joinedBy: Joint, conditions: readonly FilterCondition[]): FilterCondition {
  const shape = conditions.map((condition) => `(${condition.shape})`).join(` ${joinedBy} `)
  return {
    uses: joinUses(joinedBy, conditions),
    shape: joinedBy === 'not' ? `not ${shape}` : `${joinedBy} ${shape}`,
    values: Object.assign({}, ...conditions.map(({ values }) => values)),
    params: () => Object.assign({}, ...conditions.map(({ params }) => params())),
    dependsOnValues: conditions.some(({ dependsOnValues }) => dependsOnValues),
    toSql: () =>
      joinSql(
        joinedBy,
        conditions.map(({ toSql }) => toSql()),
      ),
  }
}

/** Indexes serve no `not`, and `any` only where they serve each of its branches. */
function joinUses(joinedBy: Joint, conditions: readonly FilterCondition[]): readonly SearchUse[] {
  if (joinedBy === 'and') return conditions.flatMap(({ uses }) => uses)
  if (joinedBy === 'not' || conditions.some(({ uses }) => uses.length === 0)) return []
  return conditions.flatMap(({ uses }) => uses.map((use) => ({ ...use, isOfAll: false })))
}

/** Joins conditions. A condition that PostgreSQL finds unknown, of a missing value, is false, so `not` makes it true. */
function joinSql(joinedBy: Joint, conditions: readonly Knex.Raw[]): Knex.Raw {
  if (joinedBy === 'not') return builder.raw('(?) is not true', conditions)
  if (conditions.length === 0) return builder.raw(joinedBy === 'and' ? 'true' : 'false')
  return builder.raw(`(${conditions.map(() => '?').join(` ${joinedBy} `)})`, conditions)
}

function fieldCondition(compiler: FilterCompiler, condition: Condition, path: string): FilterCondition {
  const { target, comparison } = readCondition(compiler.type, compiler.hideable, condition, path)
  const uses = target.field ? usesOfCondition(target.field, comparison, condition.value) : []
  const name = `filter ${compiler.nextNumber++}`
  return { ...comparisonCondition(target.column, comparison, name), dependsOnValues: comparison.operator !== 'eq', uses }
}

/**
 * Conditions on the record that the `ref` field `key` names. Without that record the value is missing. A record that the caller may not
 * read never meets a condition, whatever its operator (docs/contract/records.md#steps-along-a-reference).
 */
function stepConditions(compiler: FilterCompiler, key: string, joinedBy: 'and' | 'or', parts: readonly Part[]): FilterCondition {
  const step = requireStep(compiler, key, parts[0]?.path ?? '')
  const tests = parts.map(({ filter, path }) => readStepCondition(step, filter as Condition, path))
  const areTogether = tests.length === step.conditions && !tests.some(({ isMetByMissing }) => isMetByMissing)
  const record = areTogether ? stepSubquery(compiler.type, step, compiler.nextNumber) : joinOf(compiler, step)
  const conditions = tests.map(({ column, comparison, uses, isMetByMissing }): FilterCondition => {
    const matching = comparisonCondition(record.column(column), comparison, `filter ${compiler.nextNumber++}`)
    return { ...matching, uses, dependsOnValues: true, toSql: () => record.readable(matching.toSql(), isMetByMissing) }
  })
  const joined = joinConditions(joinedBy, conditions)
  return {
    ...joined,
    shape: `step ${step.field.column} ${step.target.key} ${accessNumberOf(step.access)} ${joined.shape}`,
    toSql: () => record.whole(joined.toSql()),
  }
}

function readStepCondition({ field, target: type, access }: RefStep, condition: Condition, path: string) {
  const [, rest = ''] = stepOf(condition.field) ?? []
  const { target, comparison } = readCondition(type, access.hideable, { ...condition, field: rest }, path)
  const isMetByMissing = comparison.matches(null)
  const usesOfTarget = target.field ? usesOfCondition(target.field, comparison, condition.value) : []
  const uses = isMetByMissing ? [] : [{ field, use: 'reference' as const }, ...usesOfTarget]
  // Fields of two types have no index together.
  return { column: target.column, comparison, isMetByMissing, uses: uses.map((one) => ({ ...one, isOfAll: false })) }
}

function joinOf({ type, joins }: FilterCompiler, step: RefStep): StepJoin {
  const join = joins.get(step) ?? new StepJoin(type, step, joins.size)
  joins.set(step, join)
  return join
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
