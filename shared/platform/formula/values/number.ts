import { formulaLimits } from '#shared/platform/formula/limits.ts'
import { type ErrorValue, errorValues, zero } from '#shared/platform/formula/values/value.ts'
import { Decimal, isDecimalText } from '#shared/platform/kernel/values/decimal.ts'

/** Reliable digits of a quotient: the 40 digits of `Decimal` minus those that rounding may have changed. */
const reliableDigits = 34
/** decimal.js stores seven digits per word, so five words hold at most 35 digits: such numbers are exact. */
const exactWords = 5

const isLong = (value: Decimal): boolean => value.d !== null && value.d.length > exactWords

/** Limits a number to the range of formulas: too large, infinite or not a number is #NUM!, too close to zero is 0. */
export function bounded(value: Decimal): Decimal | ErrorValue {
  if (!value.isFinite() || value.e >= formulaLimits.exponent) return errorValues.number
  return value.e < -formulaLimits.exponent ? zero : value
}

/** Rounds to the reliable digits, so that `1 / 3 * 3`, stored as forty nines, is 1. Numbers of up to 35 digits are unchanged. */
export const roundToReliableDigits = (value: Decimal): Decimal => (isLong(value) ? value.toSignificantDigits(reliableDigits) : value)

/** Compares two numbers by their reliable digits; the result is below, equal to or above zero. */
export function compareNumbers(left: Decimal, right: Decimal): number {
  const order = left.cmp(right)
  return order === 0 || !(isLong(left) || isLong(right)) ? order : roundToReliableDigits(left).cmp(roundToReliableDigits(right))
}

/** Adds two numbers. A result beyond the reliable digits of a long number is zero, so that `1 / 3 * 3 - 1` is 0. */
export function addNumbers(left: Decimal, right: Decimal): Decimal {
  const result = left.plus(right)
  return (isLong(left) || isLong(right)) && result.e < left.e - reliableDigits ? zero : result
}

const formattedNumber = /^([+-]?)[$€£]?((?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d*)?)(%?)$/

/** Parses a number as spreadsheets do: `12.5`, `1e3`, `1,234.50`, `$5`, `25%`, surrounding blanks. Null for any other text. */
export function parseNumber(text: string): Decimal | null {
  if (text.length > 400) return null
  const trimmed = text.trim()
  if (isDecimalText(trimmed)) return finite(new Decimal(trimmed))
  const [, sign, digits, percent] = formattedNumber.exec(trimmed) ?? []
  if (digits === undefined) return null
  const value = new Decimal(`${sign}${digits.replaceAll(',', '')}`)
  return finite(percent === '%' ? value.div(100) : value)
}

function finite(value: Decimal): Decimal | null {
  const number = bounded(value)
  return number instanceof Decimal ? number : null
}

/**
 * Formats a number: all digits of a number of up to 20 digits, the most that a number field holds, and 15 digits of a longer one, as
 * spreadsheets show a quotient. From 1e21 on and below 1e-15 in scientific notation, `1E+300`.
 */
export function formatGeneralNumber(value: Decimal): string {
  if (value.isZero()) return '0'
  const shown = value.precision() > 20 ? value.toSignificantDigits(15) : value
  if (shown.e < 21 && shown.e >= -15) return shown.toFixed()
  return shown.toExponential().replace('e', 'E')
}
