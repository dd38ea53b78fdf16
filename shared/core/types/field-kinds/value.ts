import { withCurrency } from '#shared/core/types/field-kinds/currency.ts'
import type { ParseContext } from '#shared/core/types/field-kinds/field-kind.ts'
import { fieldKinds } from '#shared/core/types/field-kinds/field-kinds.ts'
import type { TypedRules } from '#shared/core/types/fields/field.ts'
import { Problem } from '#shared/platform/kernel/errors.ts'
import { type FieldValue, hasAmount } from '#shared/platform/kernel/field-type.ts'

/**
 * Parses caller input as a field's value: null and undefined are no value; anything else must have the type's form and follow the field's
 * rules. Throws VALIDATION_ERROR that names `context.path` and the rule. Does not check `required`.
 */
export function parseValue(input: unknown, field: TypedRules, context: ParseContext): FieldValue {
  if (input === null || input === undefined) return null
  const kind = fieldKinds[field.type]
  const value = kind.parse(input, field, context)
  kind.check(value, field, context.path)
  return value
}

/** Whether a check passes: false when it throws a Problem. Rethrows any other error. */
export function isAccepted(check: () => void): boolean {
  try {
    check()
    return true
  } catch (error) {
    if (error instanceof Problem) return false
    throw error
  }
}

/** The value of a new record when none was sent; null when the field has no default. */
export const defaultValue = ({ rules }: TypedRules, defaultCurrency: string): FieldValue =>
  withCurrency(rules.default ?? null, defaultCurrency)

/** The value in a JSON response; null for no value. */
export const valueToJson = (value: FieldValue, field: TypedRules): unknown => (value === null ? null : fieldKinds[field.type].toJson(value))

/** The text of a CSV cell, not yet escaped against formulas; empty for no value. */
export const valueToCell = (value: FieldValue, field: TypedRules): string => (value === null ? '' : fieldKinds[field.type].toCell(value))

/** Parses an unescaped CSV cell; null for a blank cell. Throws like `parseValue`. */
export const parseCell = (cell: string, field: TypedRules, context: ParseContext): FieldValue =>
  parseValue(fieldKinds[field.type].fromCell(cell), field, context)

/** Whether the value counts as missing in a required field: no value, empty text or an empty list. */
export const isBlank = (value: FieldValue): boolean => value === null || value === '' || (Array.isArray(value) && value.length === 0)

/** Whether two values of one field are equal. */
export function isSameValue(one: FieldValue, other: FieldValue): boolean {
  if (one === other) return true
  if (typeof one !== 'object' || typeof other !== 'object' || one === null || other === null) return false
  if (hasAmount(one)) return hasAmount(other) && one.amount === other.amount && one.code === other.code
  return !hasAmount(other) && one.length === other.length && one.every((entry, index) => entry === other[index])
}
