import type { ColumnType } from '#shared/core/types/field-kinds/column-types.ts'
import type { KnownTrigrams } from '#shared/core/types/field-kinds/filters/trigrams.ts'
import type { RuleKey, TypedRules } from '#shared/core/types/fields/field.ts'
import type { SqlType } from '#shared/platform/db/statements/sql-types.ts'
import type { FieldType, FieldValue } from '#shared/platform/kernel/field-type.ts'

/** Operators that order a value and one operand. */
export type ComparisonOperator = 'eq' | 'ne' | 'gt' | 'gte' | 'lt' | 'lte'
/** Operators whose meaning is the field type's: they read one text. */
export type KindOperator = ComparisonOperator | 'contains' | 'not_contains' | 'starts_with' | 'has'
/** The operators of a search filter (docs/contract/records.md#filters). */
export type FilterOperator = KindOperator | 'in' | 'not_in' | 'has_any' | 'empty' | 'not_empty'

/** The context of reading a value. */
export interface ParseContext {
  /** The value's name in messages, such as `values.total`. */
  readonly path: string
  /** ISO 4217 code of the workspace's currency, applied to an amount without a code. */
  readonly defaultCurrency: string
}

/** The condition of a parsed filter in two equivalent forms: SQL and a predicate. */
export interface Comparison {
  /** SQL with `??` for the field's column and `?` for the values in order. Filters that differ only in values have the same SQL. */
  readonly sql: string
  readonly values: readonly unknown[]
  /** The type of each value; absent where there are none. */
  readonly valueType?: SqlType<unknown, unknown> | undefined
  /** Whether a value in memory matches the condition. */
  readonly matches: (value: FieldValue) => boolean
}

/** The filter of a field type. A row without a value matches only `ne`, `not_in`, `not_contains` and `empty`. */
export interface KindFilter {
  readonly operators: readonly FilterOperator[]
  /** The operator of a filter that names none; null where it must name one. */
  readonly defaultOperator: FilterOperator | null
  /**
   * Reads the text of an operator: one of `operators`, or `eq` of which `in` is made, or `has` of which `has_any` is made. Throws
   * VALIDATION_ERROR naming `path` when it does not fit the type. `known` holds the common and frequent trigrams of the field's values.
   */
  readonly read: (operator: KindOperator, value: string, path: string, known?: KnownTrigrams) => Comparison
  /** A key that equal values share, for a value in memory and for the operand of `eq`; absent where equal values are the same. */
  readonly keyOf?: (value: unknown) => unknown
  /** SQL of a column that has no value; without it, null alone is none. */
  readonly emptySql?: string
}

/** Operators of every type whose value is no list. */
export const valueOperators = ['in', 'not_in', 'empty', 'not_empty'] as const satisfies readonly FilterOperator[]

type Value = NonNullable<FieldValue>

/** Everything that differs between field types. V is the in-memory form of a value; null is no value. */
export interface FieldKind<V extends Value = Value> {
  readonly type: FieldType
  /** PostgreSQL types of the field's columns: one, or two for a currency (amount, code). */
  readonly columns: readonly [ColumnType] | readonly [ColumnType, ColumnType]
  /** Whether `q` searches the field. */
  readonly isText: boolean
  readonly sortable: boolean
  readonly canBeUnique: boolean
  /** The type's rules apart from `default` and `formula`, which every type has. */
  readonly ruleKeys: readonly RuleKey[]
  readonly filter: KindFilter
  /** Reads caller input, sent as JSON or converted by `fromCell`. Throws VALIDATION_ERROR that names the path and the rule. */
  parse(input: unknown, field: TypedRules, context: ParseContext): V
  /** Checks a value against its field's rules. Throws VALIDATION_ERROR that names the path and the rule. */
  check(value: V, field: TypedRules, path: string): void
  /** Parameters for the columns, in column order; all null for no value. */
  toColumns(value: V | null): readonly unknown[]
  /** Reads the value from a row's cells, in column order and as the driver returns them; null for no value. */
  fromColumns(cells: readonly unknown[]): V | null
  /** The value in a JSON response; JSON.stringify writes its exact digits. */
  toJson(value: V): unknown
  /** Converts the text of a CSV cell to the input of `parse`; null for a cell without a value (docs/contract/records.md#cells). */
  fromCell(text: string): unknown
  /** The text of a CSV cell, not yet escaped against formulas (docs/contract/records.md#export). */
  toCell(value: V): string
}

/** The defaults of field types whose value is stored in one column as it is; a type overrides only what differs. */
export const plainKind = {
  isText: false,
  sortable: true,
  canBeUnique: true,
  ruleKeys: [],
  check: () => {},
  toColumns: (value: Value | null): readonly unknown[] => [value],
  toJson: (value: Value): unknown => value,
  fromCell: (text: string): unknown => text.trim() || null,
} as const

/** `fromColumns` of a type whose cell, as the driver returns it, is the value. */
export const readFirstCell = <V extends Value>([cell]: readonly unknown[]): V | null => (cell ?? null) as V | null

/** `fromCell` of types that keep leading and trailing blanks. */
export const exactCell = (text: string): unknown => text || null
