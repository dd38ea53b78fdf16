/** The field types (docs/contract/types-and-fields.md#field-types). */
export const fieldTypes = [
  'string',
  'text',
  'number',
  'bool',
  'date',
  'datetime',
  'currency',
  'select',
  'multiselect',
  'email',
  'url',
  'file',
  'ref',
  'refs',
] as const
export type FieldType = (typeof fieldTypes)[number]

/** An amount with its ISO 4217 code. The amount is decimal text, because a binary float would lose digits. */
export interface Money {
  readonly amount: string
  readonly code: string
}

/** Whether a value is a currency's, as stored or as sent. Currency fields are compared and shown by their amount. */
export const hasAmount = (value: unknown): value is { readonly amount: unknown } =>
  typeof value === 'object' && value !== null && 'amount' in value

/**
 * A field's value in memory: decimal text for `number`, `Money` for `currency`, `YYYY-MM-DD` for `date`, RFC 3339 in UTC for `datetime`, text or
 * a list of texts for the other types. A field without a value is absent from the map or null.
 */
export type FieldValue = string | boolean | readonly string[] | Money | null
