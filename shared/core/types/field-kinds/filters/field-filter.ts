import { listTypeOf } from '#shared/core/types/field-kinds/column-types.ts'
import type { Comparison, FilterOperator, KindFilter, KindOperator } from '#shared/core/types/field-kinds/field-kind.ts'
import { fieldKinds } from '#shared/core/types/field-kinds/field-kinds.ts'
import type { KnownTrigrams } from '#shared/core/types/field-kinds/filters/trigrams.ts'
import { negate } from '#shared/core/types/field-kinds/filters/value-filter.ts'
import { invalidValueProblem } from '#shared/core/types/field-kinds/value-problem.ts'
import { builder, type Knex } from '#shared/platform/db/statements/builder.ts'
import { problem } from '#shared/platform/kernel/errors.ts'
import type { FieldType, FieldValue } from '#shared/platform/kernel/field-type.ts'
import { schema, t } from '#shared/platform/kernel/schema.ts'

/** One search condition on a field (docs/contract/records.md#filters). Without `op` the type's default operator applies. */
export interface FieldFilter {
  readonly op?: string | undefined
  /** Text; texts for `in`, `not_in` and `has_any`; absent for `empty` and `not_empty`. */
  readonly value?: unknown
}

/** A field, or something else that every record has, with the filter of its values. */
export interface FilteredField {
  readonly key: string
  readonly type: FieldType
  /** Absent: the type's. */
  readonly filter?: KindFilter
}

/** Maximum texts of `in`, `not_in` and `has_any`. */
const maxMembers = 200

/**
 * Parses a filter on a field. Throws VALIDATION_ERROR that names the field and the allowed input when the type does not support the
 * operator, or the value does not fit it. `path` is the filter's; `known` holds the trigram statistics of the field's values.
 */
export function readFilter(
  { key, type, filter = fieldKinds[type].filter }: FilteredField,
  { op, value }: FieldFilter,
  path: string,
  known?: KnownTrigrams,
): Comparison & { readonly operator: FilterOperator } {
  const operator = filter.operators.find((known) => known === (op ?? filter.defaultOperator))
  if (operator === undefined)
    throw invalidValueProblem(`${path}.op`, `one of ${filter.operators.join(', ')} for the ${type} field ${key}`, op)
  const valuePath = `${path}.value`
  const readOne = (kindOperator: KindOperator, text: string) => filter.read(kindOperator, text, `${valuePath} for ${key}`, known)
  const readEach = (kindOperator: KindOperator) => readTexts(value, valuePath).map((text) => readOne(kindOperator, text))
  switch (operator) {
    case 'empty':
    case 'not_empty': {
      if (value !== undefined) throw problem('VALIDATION_ERROR', `${valuePath} must be left out for ${operator}`)
      const empty = emptiness(filter)
      return { operator, ...(operator === 'empty' ? empty : negate(empty)) }
    }
    case 'in':
    case 'not_in': {
      const among = matchAny(type, filter, readEach('eq'))
      return { operator, ...(operator === 'in' ? among : negate(among)) }
    }
    case 'has_any':
      return { operator, ...overlap(readEach('has')) }
    default:
      return { operator, ...readOne(operator, readText(value, valuePath)) }
  }
}

const text = schema(t.String())
const members = schema(t.Array(t.String(), { minItems: 1, maxItems: maxMembers }))

function readText(value: unknown, path: string): string {
  if (value === undefined) throw problem('VALIDATION_ERROR', `${path} is required`)
  return text.parse(value, path)
}

function readTexts(value: unknown, path: string): readonly string[] {
  if (value === undefined) throw problem('VALIDATION_ERROR', `${path} is required`)
  return members.parse(value, path)
}

/**
 * The condition that one of several comparisons of equality holds. Its SQL has the same text for any number of them. A comparison of an
 * instant with a day has two values, the ends of the day.
 */
function matchAny(type: FieldType, { keyOf = (value) => value }: KindFilter, comparisons: readonly Comparison[]): Comparison {
  const [column] = fieldKinds[type].columns
  const valueType = listTypeOf(column)
  // Without the column type's scale, which would round the operands.
  const array = `?::${column.replace(/\(.*\)/, '')}[]`
  const [single, days] = [1, 2].map((count) => comparisons.filter(({ values }) => values.length === count)) as [Comparison[], Comparison[]]
  const operands = single.map(({ values }) => values[0])
  // Only a test in memory needs the keys.
  let keys: ReadonlySet<unknown> | undefined
  const keysOfOperands = () => {
    keys ??= new Set(operands.map(keyOf))
    return keys
  }
  const equal = {
    sql: `?? = any(${array})`,
    valueType,
    values: [operands],
    matches: (value: FieldValue) => value !== null && keysOfOperands().has(keyOf(value)),
  }
  if (days.length === 0) return equal
  const knownDays = new Set(days.map(({ values: [start] }) => String(start).slice(0, 10)))
  return {
    sql: `(${equal.sql} or exists (select from unnest(${array}, ${array}) as day (start, next) where ?? >= day.start and ?? < day.next))`,
    valueType,
    values: [operands, days.map(({ values }) => values[0]), days.map(({ values }) => values[1])],
    matches: (value) => equal.matches(value) || (typeof value === 'string' && knownDays.has(value.slice(0, 10))),
  }
}

/** The condition that a list has one of several entries, from the conditions that it has each. */
function overlap(comparisons: readonly Comparison[]): Comparison {
  const entries = comparisons.flatMap(({ values }) => values.flat())
  const known = new Set<unknown>(entries)
  return {
    sql: '?? && ?',
    valueType: comparisons[0]?.valueType,
    values: [entries],
    matches: (value) => value !== null && (value as readonly string[]).some((entry) => known.has(entry)),
  }
}

/** The condition that there is no value: null, empty text or an empty list. */
const emptiness = ({ emptySql = '?? is null' }: KindFilter): Comparison => ({
  sql: emptySql,
  values: [],
  matches: (value) => value === null || value === '' || (Array.isArray(value) && value.length === 0),
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
