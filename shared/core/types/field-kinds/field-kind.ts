import type { KnownTrigrams } from '#shared/core/types/field-kinds/filters/trigrams.ts'
import type { RuleKey, TypedRules } from '#shared/core/types/fields/field.ts'
import type { FieldType, FieldValue } from '#shared/platform/kernel/field-type.ts'

/** The operators of a search filter (document 1, Filter operators by field type). */
export type FilterOperator = 'eq' | 'ne' | 'contains' | 'gt' | 'gte' | 'lt' | 'lte'

/** What reading a value needs beside its field. */
export interface ParseContext {
  /** How messages name the value, such as `values.total`. */
  readonly path: string
  /** ISO 4217 code of the workspace's currency, which a bare amount takes. */
  readonly defaultCurrency: string
}

/** The condition of a filter, as read, in its two forms, which mean the same. */
export interface Comparison {
  /** SQL: `??` stands for the field's column, `?` for the values in their order. Filters that differ in values alone have the same. */
  readonly sql: string
  readonly values: readonly unknown[]
  /** Whether a value in memory meets it. */
  readonly matches: (value: FieldValue) => boolean
}

/** How a type is filtered on. A row without a value matches `ne` alone (decisions, Records, types, fields). */
export interface KindFilter {
  readonly operators: readonly FilterOperator[]
  /** The operator of a filter that names none. */
  readonly defaultOperator: FilterOperator
  /**
   * Reads a value for an operator of the list; throws VALIDATION_ERROR naming `path` when it does not suit the type. `known` is what is
   * known of the trigrams of the field's values.
   */
  readonly read: (operator: FilterOperator, value: string, path: string, known?: KnownTrigrams) => Comparison
}

type Value = NonNullable<FieldValue>

/** Everything in which one field type differs from another; V is the form of its values in memory. Null is no value. */
export interface FieldKind<V extends Value = Value> {
  readonly type: FieldType
  /** PostgreSQL types of the field's columns: one, or for a currency the amount's and the code's. */
  readonly columns: readonly [string] | readonly [string, string]
  /** Whether `q` searches the field. */
  readonly isText: boolean
  readonly sortable: boolean
  readonly canBeUnique: boolean
  /** The rules that the type knows beside `default` and `formula`, which every type knows. */
  readonly ruleKeys: readonly RuleKey[]
  /** null when the type cannot be filtered on. */
  readonly filter: KindFilter | null
  /** Reads what a caller sent, as JSON or through `fromCell`; throws VALIDATION_ERROR that names the path and the rule. */
  parse(input: unknown, field: TypedRules, context: ParseContext): V
  /** Holds a value against its field's own rules; throws VALIDATION_ERROR that names the path and the rule. */
  check(value: V, field: TypedRules, path: string): void
  /** Parameters for the columns, in their order; all null for no value. */
  toColumns(value: V | null): readonly unknown[]
  /** The value of a row's cells, in the columns' order and as the driver gives them; null for no value. */
  fromColumns(cells: readonly unknown[]): V | null
  /** The value as a response carries it; JSON.stringify writes its exact digits. */
  toJson(value: V): unknown
  /** What `parse` takes for the text of a CSV cell; null for a cell that holds no value (document 1, Import). */
  fromCell(text: string): unknown
  /** The text of a CSV cell, before the cell guard (document 1, Export). */
  toCell(value: V): string
}

/** What the types with one column of the value's own form share; a type lists only where it differs. */
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

/** `fromColumns` of a type whose driver gives the value's own form. */
export const readFirstCell = <V extends Value>([cell]: readonly unknown[]): V | null => (cell ?? null) as V | null

/** `fromCell` of the types whose blanks at either end belong to the value. */
export const exactCell = (text: string): unknown => text || null
