import { type FieldKind, plainKind } from '#shared/core/types/field-kinds/field-kind.ts'
import { amountFilter } from '#shared/core/types/field-kinds/filters/value-filter.ts'
import { invalidValueProblem } from '#shared/core/types/field-kinds/value-problem.ts'
import type { TypedRules } from '#shared/core/types/fields/field.ts'
import { canonicalDecimal, Decimal, isDecimalText, isPlainDecimal } from '#shared/platform/kernel/values/decimal.ts'
import { jsonNumberText, toJsonNumber } from '#shared/platform/kernel/values/json.ts'

const maxDecimalPlaces = 6
const limit = new Decimal(10).pow(14)
const rule = 'a number with up to 14 digits before and 6 after the decimal point'

// Fast path for most amounts: no plus sign, no exponent, no zeros to trim. They need no Decimal.
const alreadyCanonical = /^(?:0|-?[1-9]\d{0,13})$|^-?(?:0|[1-9]\d{0,13})\.\d{0,5}[1-9]$/

/**
 * Reads a JSON number, or a plain decimal as text, as canonical decimal text. Throws VALIDATION_ERROR for too many digits, and for an
 * exponent in text: `1e3` is more often a typing error than a thousand.
 */
export function parseAmount(input: unknown, path: string): string {
  const text = typeof input === 'string' ? input : jsonNumberText(input)
  const isNumber = typeof input === 'string' ? isPlainDecimal : isDecimalText
  if (text === undefined || !isNumber(text)) throw invalidValueProblem(path, rule, input)
  if (alreadyCanonical.test(text)) return text
  const amount = new Decimal(text)
  if (amount.abs().gte(limit) || amount.decimalPlaces() > maxDecimalPlaces) throw invalidValueProblem(path, rule, input)
  return canonicalDecimal(amount)
}

/** Trims trailing zeros from the text of a numeric(20,6) cell: `12.500000` becomes `12.5`. */
export function trimAmount(cell: string): string {
  if (!cell.includes('.')) return cell
  let end = cell.length
  while (cell.charCodeAt(end - 1) === 0x30) end -= 1
  return cell.slice(0, cell.charCodeAt(end - 1) === 0x2e ? end - 1 : end)
}

/** Checks an amount against `min` and `max`. Throws VALIDATION_ERROR. */
export function checkRange(amount: string, { rules }: TypedRules, path: string): void {
  if (rules.min !== undefined && new Decimal(amount).lt(rules.min))
    throw invalidValueProblem(path, `at least ${rules.min}`, toJsonNumber(amount))
  if (rules.max !== undefined && new Decimal(amount).gt(rules.max))
    throw invalidValueProblem(path, `at most ${rules.max}`, toJsonNumber(amount))
}

/** An exact decimal number. */
export const numberKind: FieldKind<string> = {
  ...plainKind,
  type: 'number',
  columns: ['numeric(20,6)'],
  ruleKeys: ['min', 'max'],
  filter: amountFilter,
  parse: (input, _field, { path }) => parseAmount(input, path),
  check: checkRange,
  fromColumns: ([cell]) => (cell == null ? null : trimAmount(cell as string)),
  toJson: toJsonNumber,
  toCell: (value) => value,
}
