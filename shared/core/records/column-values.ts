import { type Values, valueColumnsOf } from '#shared/core/records/record.ts'
import { fieldKinds } from '#shared/core/types/field-kinds/field-kinds.ts'
import type { Field } from '#shared/core/types/fields/field.ts'

/** Column parameters of the fields' values, by column name; null for an empty value. */
export function toColumnValues(fields: readonly Field[], values: Values): Record<string, unknown> {
  const cells: Record<string, unknown> = {}
  for (const field of fields) {
    const parameters = fieldKinds[field.type].toColumns(values[field.key] ?? null)
    for (const [index, column] of valueColumnsOf(field).entries()) cells[column] = parameters[index]
  }
  return cells
}
