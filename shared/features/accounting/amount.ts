import { problem } from '#shared/platform/kernel/errors.ts'
import { currencyDigits, isCurrencyCode } from '#shared/platform/kernel/values/currency.ts'
import { jsonNumberText } from '#shared/platform/kernel/values/json.ts'

/**
 * An amount in whole millionths of its currency, so sums and differences are exact and nothing is rounded. The largest amount of a line is
 * 9,223,372,036,854: the largest whole number whose millionths fit into 64 bits. Sums may be larger.
 */
export type Amount = bigint

const millionthsPerUnit = 1_000_000n
const fractionDigits = 6

/** The largest amount of one line (docs/contract/accounting.md#amounts). */
const largestAmount: Amount = 9_223_372_036_854n * millionthsPerUnit

// ASCII digits and a decimal point; no sign, exponent, blank or separator.
const decimalPattern = /^\d{1,13}(?:\.\d{1,6})?$/
const zeroPattern = /^0{1,30}(?:\.0{1,30})?$/

/** Parses an amount above zero, sent as text or as a JSON number. Throws VALIDATION_ERROR naming `path`. */
export function parseAmount(value: unknown, path: string): Amount {
  const text = sentText(value)
  if (text === undefined || !decimalPattern.test(text))
    throw problem(
      'VALIDATION_ERROR',
      `${path} must be a decimal number such as "12.50", with at most 13 digits before the point and 6 behind it`,
    )
  const amount = readAmount(text)
  if (amount === 0n) throw problem('VALIDATION_ERROR', `${path} must be above zero`)
  if (amount > largestAmount) throw problem('VALIDATION_ERROR', `${path} must be at most 9223372036854`)
  return amount
}

/** Whether the debit or credit of a line counts as omitted: absent, null, empty text or zero. */
export function isEmptySide(value: unknown): boolean {
  if (value === undefined || value === null || value === '') return true
  const text = sentText(value)
  return text !== undefined && zeroPattern.test(text)
}

// Keeps the sign of a JSON number -0, which `String` would drop, so that -0 is refused like every negative number.
const sentText = (value: unknown): string | undefined =>
  typeof value === 'string' ? value : Object.is(value, -0) ? '-0' : jsonNumberText(value)

/** Reads decimal text as PostgreSQL writes it, with or without a minus sign. */
export function readAmount(text: string): Amount {
  const isNegative = text.startsWith('-')
  const [units = '0', fraction = ''] = text.slice(isNegative ? 1 : 0).split('.')
  const amount = BigInt(units) * millionthsPerUnit + BigInt(fraction.padEnd(fractionDigits, '0'))
  return isNegative ? -amount : amount
}

/** Decimal text with every digit of the amount and at least the fraction digits of its currency: `100.00` in USD, `100` in JPY. */
export const writeAmount = (amount: Amount, currency: string): string => writeDecimal(amount, currencyDigits(currency))

/** Decimal text as PostgreSQL reads it: every digit of the amount, and at least `minDigits` of its fraction. */
export function writeDecimal(amount: Amount, minDigits = 0): string {
  const magnitude = amount < 0n ? -amount : amount
  const digits = (magnitude % millionthsPerUnit).toString().padStart(fractionDigits, '0')
  const fraction = digits.slice(0, Math.max(minDigits, digits.replace(/0+$/, '').length))
  return `${amount < 0n ? '-' : ''}${magnitude / millionthsPerUnit}${fraction === '' ? '' : `.${fraction}`}`
}

/** The sum of amounts; 0 without any. */
export const sumOf = (amounts: Iterable<Amount>): Amount => {
  let sum = 0n
  for (const amount of amounts) sum += amount
  return sum
}

/** Throws VALIDATION_ERROR unless the code is in ISO 4217 or among the currencies that the ledger already uses. */
export function requireCurrency(code: string, usedCurrencies: readonly string[] = []): void {
  if (isCurrencyCode(code) || usedCurrencies.includes(code)) return
  throw problem('VALIDATION_ERROR', `currency must be an ISO 4217 code such as EUR, got ${code.slice(0, 20)}`)
}
