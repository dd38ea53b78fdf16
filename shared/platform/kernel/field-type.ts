/** The field types that a workspace may choose from (document 1, Field definition). */
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

/** An amount with its ISO 4217 code; the amount is decimal text, so no digit passes through a binary float. */
export interface Money {
  readonly amount: string
  readonly code: string
}

/**
 * A field's value as the domain holds it in memory, between the row and the wire: decimal text for `number`,
 * `Money` for `currency`, `YYYY-MM-DD` for `date`, RFC 3339 in UTC for `datetime`, text or list of text for the rest.
 * A field without a value is absent from the map or null.
 */
export type FieldValue = string | boolean | readonly string[] | Money | null
