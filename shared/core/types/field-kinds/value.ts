import { withCurrency } from '#shared/core/types/field-kinds/currency.ts'
import type { ParseContext } from '#shared/core/types/field-kinds/field-kind.ts'
import { fieldKinds } from '#shared/core/types/field-kinds/field-kinds.ts'
import type { TypedRules } from '#shared/core/types/fields/field.ts'
import type { FieldValue } from '#shared/platform/kernel/field-type.ts'

/**
 * A field's value of what a caller sent: null and undefined are no value; anything else must have the type's form and keep the field's
 * rules. Throws VALIDATION_ERROR that names `context.path` and the rule. Whether a value is required is the caller's to ask.
 */
export function parseValue(input: unknown, field: TypedRules, context: ParseContext): FieldValue {
  if (input === null || input === undefined) return null
  const kind = fieldKinds[field.type]
  const value = kind.parse(input, field, context)
  kind.check(value, field, context.path)
  return value
}

/** The value that a new record takes when none was sent; null when the field has no default. */
export const defaultValue = ({ rules }: TypedRules, defaultCurrency: string): FieldValue =>
  withCurrency(rules.default ?? null, defaultCurrency)

/** A value as a response carries it. */
export const valueToJson = (value: FieldValue, field: TypedRules): unknown => (value === null ? null : fieldKinds[field.type].toJson(value))

/** The text of a CSV cell before the cell guard; blank for no value. */
export const valueToCell = (value: FieldValue, field: TypedRules): string => (value === null ? '' : fieldKinds[field.type].toCell(value))

/** The field's value of a CSV cell whose guard is off; null for a blank one. Throws like `parseValue`. */
export const parseCell = (cell: string, field: TypedRules, context: ParseContext): FieldValue =>
  parseValue(fieldKinds[field.type].fromCell(cell), field, context)

/** Whether a required field counts the value as missing: no value, empty text or an empty list. */
export const isBlank = (value: FieldValue): boolean => value === null || value === '' || (Array.isArray(value) && value.length === 0)

/** Whether two values of one field are the same, so that an immutable field may be sent again unchanged. */
export function isSameValue(one: FieldValue, other: FieldValue): boolean {
  if (one === other) return true
  if (typeof one !== 'object' || typeof other !== 'object' || one === null || other === null) return false
  if ('amount' in one) return 'amount' in other && one.amount === other.amount && one.code === other.code
  return !('amount' in other) && one.length === other.length && one.every((entry, index) => entry === other[index])
}
