import { Problem } from '#shared/kernel/errors.ts'
import type { FieldType } from '#shared/kernel/field-type.ts'
import type { FieldRules, FieldShape } from '#shared/types/fields/field.ts'
import type { ParseContext } from '#shared/types/fields/kind.ts'

export const context: ParseContext = { path: 'values.x', defaultCurrency: 'EUR' }
export const shape = (type: FieldType, rules: FieldRules = {}): FieldShape => ({ type, rules })

/** The message of the VALIDATION_ERROR that `work` throws; undefined when it throws none. */
export function complaint(work: () => unknown): string | undefined {
  try {
    work()
  } catch (error) {
    if (error instanceof Problem && error.code === 'VALIDATION_ERROR') return error.message
    throw error
  }
  return undefined
}
