import { lowerCase, lowerCaseOf } from '#shared/core/policy/conditions/letter-case.ts'
import {
  asBoolean,
  asDay,
  asDayOfInstant,
  asId,
  asIdText,
  asInstant,
  asNumber,
  asNumericText,
  asOrderedText,
  asText,
  type ValueComparison,
} from '#shared/core/policy/conditions/value-comparison.ts'
import { plainSql, type SqlText, sql, valueSql } from '#shared/platform/db/statements/sql-text.ts'
import type { FieldType } from '#shared/platform/kernel/field-type.ts'
import { jsonNumberText } from '#shared/platform/kernel/values/json.ts'

/** The `contains` test of a kind of value, in memory and in SQL. The searched text is already in lower case. */
interface TextSearch {
  readonly holds: (value: unknown, text: string) => boolean
  readonly where: (column: SqlText, text: string) => SqlText
}

/**
 * The comparisons of a kind of value. Equality uses the first comparison that accepts the operand. Ordering uses the first one that accepts
 * the operand and the value; if there is none, the sides cannot be compared.
 */
export interface ValueKind {
  readonly equality: readonly ValueComparison[]
  readonly ordering: readonly ValueComparison[]
  /** null if such a value never contains text. */
  readonly search: TextSearch | null
}

const textSearch: TextSearch = {
  holds: (value, text) => typeof value === 'string' && lowerCase(value).includes(text),
  where: (column, text) => sql`strpos(${lowerCaseOf(column)}, ${valueSql(text)}::text) > 0`,
}

const lowerElement = lowerCaseOf(plainSql('element'))

/** `contains` of a list: one of its elements equals the text, in any letter case. */
const element: TextSearch = {
  holds: (value, text) => Array.isArray(value) && value.some((item) => typeof item === 'string' && lowerCase(item) === text),
  where: (column, text) => sql`exists (select from unnest(${column}::text[]) as element where ${lowerElement} = ${valueSql(text)}::text)`,
}

const idSearch: TextSearch = { ...textSearch, where: (column, text) => textSearch.where(sql`${column}::text`, text) }

// Ordering: numeric text counts as a number when both sides are (docs/contract/access.md#comparisons). Equality of two texts is exact: "1"
// is not "1.0"; only a number as operand makes a text count as a number.
const text: ValueKind = { equality: [asText, asNumericText], ordering: [asNumericText, asOrderedText], search: textSearch }
const number: ValueKind = { equality: [asNumber], ordering: [asNumber], search: null }
const boolean: ValueKind = { equality: [asBoolean], ordering: [], search: null }
const day: ValueKind = { equality: [asDay], ordering: [asDay], search: null }
const instant: ValueKind = { equality: [asInstant, asDayOfInstant], ordering: [asInstant, asDayOfInstant], search: null }
const id: ValueKind = { equality: [asId], ordering: [asIdText], search: idSearch }
// A list equals no single value and has no order: `contains` is the test for lists.
const list: ValueKind = { equality: [], ordering: [], search: element }

/** The kinds of testable values that are not fields. */
export const valueKinds = { text, id, instant } as const

/** The kind of each field type's values; a currency is tested by its amount. */
export const fieldTypeKinds: Readonly<Record<FieldType, ValueKind>> = {
  string: text,
  text,
  email: text,
  url: text,
  select: text,
  file: text,
  number,
  currency: number,
  bool: boolean,
  date: day,
  datetime: instant,
  ref: id,
  refs: list,
  multiselect: list,
}

/** Text of unknown type, as in `attrs` of simulate. If both sides look like times, they are compared as times. */
const looseText: ValueKind = { equality: text.equality, ordering: [asNumericText, asInstant, asDay, asOrderedText], search: textSearch }

/** The kind of a JSON value whose field is unknown. */
export function jsonValueKind(value: unknown): ValueKind {
  if (Array.isArray(value)) return list
  if (typeof value === 'boolean') return boolean
  if (jsonNumberText(value) !== undefined || typeof value === 'object') return number
  return looseText
}
