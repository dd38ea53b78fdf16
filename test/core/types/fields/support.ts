import type { ParseContext } from '#shared/core/types/field-kinds/field-kind.ts'
import type { FieldRules, TypedRules } from '#shared/core/types/fields/field.ts'
import { Problem } from '#shared/platform/kernel/errors.ts'
import type { FieldType } from '#shared/platform/kernel/field-type.ts'

export const context: ParseContext = { path: 'values.x', defaultCurrency: 'EUR' }
export const shape = (type: FieldType, rules: FieldRules = {}): TypedRules => ({ type, rules })

/** The message of the VALIDATION_ERROR that `work` throws; undefined without an error. */
export function complaint(work: () => unknown): string | undefined {
  try {
    work()
  } catch (error) {
    if (error instanceof Problem && error.code === 'VALIDATION_ERROR') return error.message
    throw error
  }
  return undefined
}
