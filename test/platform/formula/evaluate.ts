import type { FormulaField } from '#shared/platform/formula/compile.ts'
import { compileFormula } from '#shared/platform/formula/formula.ts'
import { toText } from '#shared/platform/formula/values/coerce.ts'
import type { Value } from '#shared/platform/formula/values/value.ts'
import { isError } from '#shared/platform/formula/values/value.ts'
import type { FieldType, FieldValue } from '#shared/platform/kernel/field-type.ts'

/** Saturday, 14 March 2026, 09:26:53 UTC: the time of TODAY and NOW in these tests. */
export const now = new Date('2026-03-14T09:26:53Z')

/** A field of the record of a formula: its type, its value, its options. */
export type Given = readonly [type: FieldType, value: FieldValue, options?: readonly string[]]

/** The value of a formula for a record of these fields. */
export function evaluate(source: string, given: Readonly<Record<string, Given>> = {}): Value {
  const entries = Object.entries(given)
  const fields = new Map<string, FormulaField>(entries.map(([key, [type, , options]]) => [key, { type, options }]))
  const values = new Map(entries.map(([key, [, value]]) => [key, value]))
  return compileFormula(source, { fields, target: { key: 'result' } }).evaluate(values, { now })
}

/** The value of a formula as text, `empty`, or the code of its error, for tables of cases. */
export function shown(source: string, given: Readonly<Record<string, Given>> = {}): string {
  const value = evaluate(source, given)
  if (value === null) return 'empty'
  return isError(value) ? value.code : (toText(value) as string)
}
