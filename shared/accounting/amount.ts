import { currencyDigits } from '#shared/kernel/currency.ts'
import { problem } from '#shared/kernel/errors.ts'
import { numberText } from '#shared/kernel/json.ts'

/**
 * An amount in millionths of its currency: whole numbers, so that sums and differences are exact and nothing is ever rounded. The largest
 * amount of a line, 9,223,372,036,854, is the largest whole number whose millionths 64 bits hold; sums may be larger.
 */
export type Amount = bigint

const perUnit = 1_000_000n
const digitsKept = 6

/** The largest amount of one line (document 2, Accounting, entry rule 3). */
export const largestAmount: Amount = 9_223_372_036_854n * perUnit

// The rule of decisions, Accounting: no sign, exponent, blank or separator, and digits of ASCII alone.
const plain = /^\d{1,13}(?:\.\d{1,6})?$/
const zero = /^0{1,30}(?:\.0{1,30})?$/

/** An amount above zero, sent as text or JSON number. Throws VALIDATION_ERROR that names `path`. */
export function parseAmount(value: unknown, path: string): Amount {
  const text = textOf(value)
  if (text === undefined || !plain.test(text))
    throw problem(
      'VALIDATION_ERROR',
      `${path} must be a decimal number such as "12.50", with at most 13 digits before the point and 6 behind it`,
    )
  const amount = readAmount(text)
  if (amount === 0n) throw problem('VALIDATION_ERROR', `${path} must be above zero`)
  if (amount > largestAmount) throw problem('VALIDATION_ERROR', `${path} must be at most 9223372036854`)
  return amount
}

/** Whether a side of a line counts as left out: absent, null, empty text or zero. */
export function isEmptySide(value: unknown): boolean {
  if (value === undefined || value === null || value === '') return true
  const text = textOf(value)
  return text !== undefined && zero.test(text)
}

/** A JSON number of -0 has a sign that `String` does not show. */
const textOf = (value: unknown): string | undefined => (typeof value === 'string' ? value : Object.is(value, -0) ? '-0' : numberText(value))

/** The amount of a decimal text as PostgreSQL writes it, with or without a sign. */
export function readAmount(text: string): Amount {
  const isNegative = text.startsWith('-')
  const [units = '0', fraction = ''] = text.slice(isNegative ? 1 : 0).split('.')
  const amount = BigInt(units) * perUnit + BigInt(fraction.padEnd(digitsKept, '0'))
  return isNegative ? -amount : amount
}

/** All digits of an amount, at least as many behind the point as its currency has: `100.00` in USD, `100` in JPY. */
export function writeAmount(amount: Amount, currency: string): string {
  const size = amount < 0n ? -amount : amount
  const digits = (size % perUnit).toString().padStart(digitsKept, '0')
  const fraction = digits.slice(0, Math.max(currencyDigits(currency), digits.replace(/0+$/, '').length))
  return `${amount < 0n ? '-' : ''}${size / perUnit}${fraction === '' ? '' : `.${fraction}`}`
}

/** The sum of amounts. */
export const sumOf = (amounts: Iterable<Amount>): Amount => {
  let sum = 0n
  for (const amount of amounts) sum += amount
  return sum
}
