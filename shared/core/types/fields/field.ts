import type { FieldType, FieldValue } from '#shared/platform/kernel/field-type.ts'

/** A field definition as the domain holds it (document 1, Field definition), with the columns that keep its values. */
export interface Field {
  readonly id: string
  /** Key of the record type that the field belongs to. */
  readonly entityType: string
  readonly key: string
  readonly label: string
  readonly type: FieldType
  readonly required: boolean
  readonly unique: boolean
  readonly immutable: boolean
  /** The auto-numbering pattern; empty when off. */
  readonly autogen: string
  readonly description: string
  readonly rules: FieldRules
  readonly createdAt: string
  readonly system: boolean
  /** Of a computed field, the keys of those that its formula reads: who may not see one of them may not see the result. */
  readonly reads?: readonly string[]
  /** Of a computed field, the keys of those that the formulas before read, as long as a recompute has not replaced all that they made. */
  readonly staleReads: readonly string[]
  readonly column: string
  /** The second column of a currency field, which holds the code; null for every other type. */
  readonly codeColumn: string | null
}

/** What of a field its kind needs to read and check a value. */
export type TypedRules = Pick<Field, 'type' | 'rules'>

/** Where a field's values stand in a statement: column names, with a table's alias in front where the caller uses one. */
export type FieldColumns = Pick<Field, 'column' | 'codeColumn'>

/**
 * A field's rules (document 1, Keys of rules) in the form that is kept: every number is decimal text and the default is a value in
 * its in-memory form, so `JSON.stringify` and `JSON.parse` lose nothing. `rulesToJson` makes the form that callers read.
 */
export interface FieldRules {
  readonly min_len?: number
  readonly max_len?: number
  /** RE2 syntax, matched anywhere in the value. */
  readonly pattern?: string
  /** Decimal text, like `max`. */
  readonly min?: string
  readonly max?: string
  readonly options?: readonly string[]
  /** ISO 4217 code that fixes a currency field to one currency. */
  readonly unit?: string
  /** Key of the record type that a reference points at. */
  readonly ref_type?: string
  /** A currency default without a code, `{amount, code: ''}`, takes the workspace's currency when it is applied. */
  readonly default?: FieldValue
  readonly formula?: string
}
export type RuleKey = keyof FieldRules
