import { columnsOf, type Values } from '#shared/records/record.ts'
import type { Field } from '#shared/types/fields/field.ts'
import { fieldKinds } from '#shared/types/fields/kinds.ts'

/** The parameters of fields' columns, by column name. */
export function cellsOf(fields: readonly Field[], values: Values): Record<string, unknown> {
  const cells: Record<string, unknown> = {}
  for (const field of fields) {
    const parameters = fieldKinds[field.type].toColumns(values[field.key] ?? null)
    for (const [index, column] of columnsOf(field).entries()) cells[column] = parameters[index]
  }
  return cells
}
