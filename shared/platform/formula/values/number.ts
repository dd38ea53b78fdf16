import { formulaLimits } from '#shared/platform/formula/limits.ts'
import { Decimal, isDecimalText } from '#shared/platform/kernel/values/decimal.ts'
import { type ErrorValue, errorValues, zero } from './value.ts'

/** Digits that a quotient is trusted for: the kernel's 40 less those that rounding may have touched. */
const trustedDigits = 34
/** Seven digits to a word in decimal.js, so five words hold at most 35 digits: no rounding has touched those. */
const exactWords = 5

const isLong = (value: Decimal): boolean => value.d !== null && value.d.length > exactWords

/** A number within the magnitudes that formulas know; infinity and not-a-number are #NUM!. */
export function bounded(value: Decimal): Decimal | ErrorValue {
  if (!value.isFinite() || value.e >= formulaLimits.exponent) return errorValues.number
  return value.e < -formulaLimits.exponent ? zero : value
}

/** The number that a calculation meant: `1 / 3 * 3`, kept as forty nines, is 1. Numbers of up to 35 digits stay exactly as they are. */
export const roundToTrusted = (value: Decimal): Decimal => (isLong(value) ? value.toSignificantDigits(trustedDigits) : value)

/** Orders two numbers as they were meant: below, equal or above zero. */
export function compareNumbers(left: Decimal, right: Decimal): number {
  const order = left.cmp(right)
  return order === 0 || !(isLong(left) || isLong(right)) ? order : roundToTrusted(left).cmp(roundToTrusted(right))
}

/** A sum; what two long numbers leave over beyond the trusted digits is zero, so that `1 / 3 * 3 - 1` is 0. */
export function addNumbers(left: Decimal, right: Decimal): Decimal {
  const result = left.plus(right)
  return (isLong(left) || isLong(right)) && result.e < left.e - trustedDigits ? zero : result
}

const dressed = /^([+-]?)[$€£]?((?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d*)?)(%?)$/

/** Reads a number as spreadsheets do: `12.5`, `1e3`, `1,234.50`, `$5`, `25%`, blanks around it. Null for any other text. */
export function parseNumber(text: string): Decimal | null {
  if (text.length > 400) return null
  const trimmed = text.trim()
  if (isDecimalText(trimmed)) return finite(new Decimal(trimmed))
  const [, sign, digits, percent] = dressed.exec(trimmed) ?? []
  if (digits === undefined) return null
  const value = new Decimal(`${sign}${digits.replaceAll(',', '')}`)
  return finite(percent === '%' ? value.div(100) : value)
}

function finite(value: Decimal): Decimal | null {
  const number = bounded(value)
  return number instanceof Decimal ? number : null
}

/**
 * A number as text: every digit of a number of up to 20 digits, as many as a number field holds, and 15 digits of a longer one, as
 * spreadsheets show a quotient. From 1e21 and below 1e-15 in scientific form, `1E+300`.
 */
export function formatGeneralNumber(value: Decimal): string {
  if (value.isZero()) return '0'
  const shown = value.precision() > 20 ? value.toSignificantDigits(15) : value
  if (shown.e < 21 && shown.e >= -15) return shown.toFixed()
  return shown.toExponential().replace('e', 'E')
}
