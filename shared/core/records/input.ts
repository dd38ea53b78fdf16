import { emptyValues, type Values } from '#shared/core/records/record.ts'
import { defaultValue, isBlank, parseValue } from '#shared/core/types/field-kinds/value.ts'
import type { Field } from '#shared/core/types/fields/field.ts'
import type { RecordType } from '#shared/core/types/record-type.ts'
import { problem } from '#shared/platform/kernel/errors.ts'

/** What reading values needs of their workspace. */
export interface InputContext {
  readonly defaultCurrency: string
}

/** Whether a field computes itself, so that values sent for it are ignored (document 1, Record). */
export const isComputed = ({ rules }: Field): boolean => rules.formula !== undefined

/**
 * Reads what a caller sent as `values`: every key must be a field's and every value of its type and rules; null is no value. Throws
 * VALIDATION_ERROR that names the field. Values for computed fields are left out.
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
 * The values of a new record: those sent, and the defaults of fields without one; an auto-numbered field waits for its number instead.
 * Throws VALIDATION_ERROR when a required one is missing.
 */
export function completeValues(type: RecordType, sent: Values, context: InputContext): Values {
  const values = emptyValues()
  for (const field of type.fields) {
    const given = sent[field.key] ?? null
    const value = given === null && field.autogen === '' ? defaultValue(field, context.defaultCurrency) : given
    if (field.required && isBlank(value) && !fillsItself(field)) throw missing(field)
    values[field.key] = value
  }
  return values
}

/** Throws VALIDATION_ERROR when a record would be left without a required value, sent or not (document 1, Field creation body). */
export function requireRequiredValues({ fields }: RecordType, values: Values): void {
  const field = fields.find((candidate) => candidate.required && !isComputed(candidate) && isBlank(values[candidate.key] ?? null))
  if (field) throw missing(field)
}

const fillsItself = (field: Field): boolean => field.autogen !== '' || isComputed(field)

const missing = (field: Field) => problem('VALIDATION_ERROR', `values.${field.key} is required`)
