import { emptyValues, type Values } from '#shared/core/records/record.ts'
import { defaultValue, isBlank, parseValue } from '#shared/core/types/field-kinds/value.ts'
import type { Field } from '#shared/core/types/fields/field.ts'
import type { RecordType } from '#shared/core/types/record-type.ts'
import { problem } from '#shared/platform/kernel/errors.ts'

/** Workspace settings that parsing values needs. */
export interface InputContext {
  readonly defaultCurrency: string
}

/** Whether a field has a formula. Values sent for it are ignored (docs/contract/records.md#values). */
export const isComputed = ({ rules }: Field): boolean => rules.formula !== undefined

/**
 * Parses a caller's `values`: every key must name a field, every value must have its type and keep its rules; null means no value. Omits
 * computed fields. Throws VALIDATION_ERROR that names the field.
 */
export function parseValues(type: RecordType, input: Readonly<Record<string, unknown>>, context: InputContext): Values {
  const values = emptyValues()
  for (const [key, sent] of Object.entries(input)) {
    const field = type.fieldByKey.get(key)
    if (!field) throw problem('VALIDATION_ERROR', `values.${key} names no field of ${type.key}`)
    if (!isComputed(field)) values[key] = parseValue(sent, field, { path: `values.${key}`, defaultCurrency: context.defaultCurrency })
  }
  return values
}

/**
 * The values of a new record: those sent, and defaults for the other fields. Auto-numbered fields get no default: their number follows
 * later. Throws VALIDATION_ERROR when a required value is missing.
 */
export function completeValues(type: RecordType, sent: Values, context: InputContext): Values {
  const values = emptyValues()
  for (const field of type.fields) {
    const given = sent[field.key] ?? null
    const value = given === null && field.autogen === '' ? defaultValue(field, context.defaultCurrency) : given
    if (field.required && isBlank(value) && !isGenerated(field)) throw missingValue(field)
    values[field.key] = value
  }
  return values
}

/** Throws VALIDATION_ERROR when a record lacks a required value, sent or not (docs/contract/types-and-fields.md#required-fields). */
export function requireRequiredValues({ fields }: RecordType, values: Values): void {
  const field = fields.find((candidate) => candidate.required && !isComputed(candidate) && isBlank(values[candidate.key] ?? null))
  if (field) throw missingValue(field)
}

const isGenerated = (field: Field): boolean => field.autogen !== '' || isComputed(field)

const missingValue = (field: Field) => problem('VALIDATION_ERROR', `values.${field.key} is required`)
