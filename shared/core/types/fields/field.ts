import type { FieldType, FieldValue } from '#shared/platform/kernel/field-type.ts'

/** A field definition (docs/contract/types-and-fields.md#fields) with the columns that store its values. */
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
  /** Computed fields: keys of the fields that the formula reads. A caller who may not see one of them may not see the result. */
  readonly reads?: readonly string[]
  /**
   * Computed fields: keys of the fields that stored results may derive from, directly or through other formulas, until a recompute has
   * replaced them all. Keys of deleted fields stay in it.
   */
  readonly staleReads: readonly string[]
  /**
   * Number of the field's creation, or of the latest change after which values written before may derive from fields that it does not read
   * now (shared/core/records/earlier-fields.ts). 0 for fields older than revisions.
   */
  readonly revision: number
  readonly column: string
  /** The code column of a currency field; null for every other type. */
  readonly codeColumn: string | null
}

/** The properties of a field that its kind needs to parse and check a value. */
export type TypedRules = Pick<Field, 'type' | 'rules'>

/** The columns of a field in a statement: column names, with a table alias where the caller uses one. */
export type FieldColumns = Pick<Field, 'column' | 'codeColumn'>

/**
 * A field's rules (docs/contract/types-and-fields.md#rules) as stored: every number is decimal text and the default is a value in its
 * in-memory form, so `JSON.stringify` and `JSON.parse` lose nothing. `rulesToJson` converts them to the response form.
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
  /** Key of the record type that a reference targets. */
  readonly ref_type?: string
  /** A currency default without a code, `{amount, code: ''}`, takes the workspace's currency when applied. */
  readonly default?: FieldValue
  readonly formula?: string
}
export type RuleKey = keyof FieldRules
