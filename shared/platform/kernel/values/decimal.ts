import { Decimal as DecimalJs } from 'decimal.js'

/** decimal.js with 40 digits: enough for numbers of 14 + 6 digits and their products. Its default of 20 would round products. */
export const Decimal = DecimalJs.clone({ precision: 40, rounding: DecimalJs.ROUND_HALF_UP, toExpNeg: -30, toExpPos: 60, defaults: true })
export type Decimal = DecimalJs

const plain = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d{1,3})?$/

/** Whether text is a decimal number, with or without an exponent; hexadecimal, Infinity and blanks are not. */
export const isDecimalText = (text: string): boolean => text.length <= 400 && plain.test(text)

/** Whether text is a decimal number without an exponent, the form of amounts sent as text (docs/contract/conventions.md#decimals). */
export const isPlainDecimal = (text: string): boolean => isDecimalText(text) && !/e/i.test(text)

/** The shortest plain decimal text of a number: no exponent, no trailing zeros, no negative zero. */
export function canonicalDecimal(value: Decimal): string {
  return value.isZero() ? '0' : value.toFixed()
}
