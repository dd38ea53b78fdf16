import { randomBytes } from 'node:crypto'
import { Decimal } from '#shared/platform/kernel/values/decimal.ts'

/** More numbers than `parseExactJson` was allowed to keep as text. */
export class TooManyExactNumbers extends Error {}

/**
 * `JSON.parse` without loss of digits: a number that a binary float would print differently becomes a `JSON.rawJSON` object. Throws the errors
 * of `JSON.parse`, and TooManyExactNumbers, whose message names the bound, beyond `maxExact` such numbers.
 */
export function parseExactJson(text: string, maxExact = Number.POSITIVE_INFINITY): unknown {
  const numbers = inexactNumbers(text, maxExact)
  if (numbers.length > maxExact)
    throw new TooManyExactNumbers(`${maxExact} numbers with an exponent, trailing zeros or more than 15 digits`)
  if (numbers.length === 0) return JSON.parse(text)
  // For parsing, each such number is replaced by an object whose key is random, so that no sender can guess it. 1 MB of short numbers with
  // one long number takes 17 ms this way, and 150 ms with a reviver, which is called for every value.
  const placeholder = randomBytes(9).toString('base64url')
  let replaced = ''
  let end = 0
  for (const [index, { from, to }] of numbers.entries()) {
    replaced += `${text.slice(end, from)}{"${placeholder}":${index}}`
    end = to
  }
  let value: unknown
  try {
    value = JSON.parse(replaced + text.slice(end))
  } catch {
    return JSON.parse(text)
  }
  const exact = ({ from, to }: NumberRange): unknown => JSON.rawJSON(text.slice(from, to))
  return replacePlaceholders(value, placeholder, numbers.map(exact))
}

/**
 * Turns every number in a JSON text that a double cannot hold into a JSON string of its digits, so that JavaScript can parse the text
 * without loss (docs/contract/conventions.md#decimals). A number that a double holds stays a number, however it is written: `1.10`, `1e2`.
 */
export function quoteInexactNumbers(text: string): string {
  let quoted = ''
  let end = 0
  for (const { from, to } of inexactNumbers(text)) {
    const number = text.slice(from, to)
    if (roundTripsAsDouble(number)) continue
    quoted += `${text.slice(end, from)}"${number}"`
    end = to
  }
  return end === 0 ? text : quoted + text.slice(end)
}

/**
 * Whether the number keeps its decimal value when it is converted to a double and printed again, as 0.1 does and 12345678901234567890
 * does not.
 */
export const roundTripsAsDouble = (number: string): boolean =>
  (number.length <= 15 && !/e/i.test(number)) || new Decimal(number).equals(String(Number(number)))

/** Position of a number in the text. */
interface NumberRange {
  readonly from: number
  readonly to: number
}

/** The index of the quote that closes the string opened at `start`; at least the text's length when the string is not closed. */
export function findStringEnd(text: string, start: number): number {
  let index = start + 1
  while (index < text.length) {
    const code = text.charCodeAt(index)
    if (code === quote) return index
    index += code === backslash ? 2 : 1
  }
  return index
}

const [quote, backslash, minus, plus, point, zero, nine, upperE, lowerE] = [0x22, 0x5c, 0x2d, 0x2b, 0x2e, 0x30, 0x39, 0x45, 0x65]

/** Inexact numbers in order, at most one more than `most`. */
function inexactNumbers(text: string, most = Number.POSITIVE_INFINITY): NumberRange[] {
  const found: NumberRange[] = []
  let index = 0
  while (index < text.length && found.length <= most) {
    const code = text.charCodeAt(index)
    if (code === quote) index = findStringEnd(text, index) + 1
    else if (code !== minus && (code < zero || code > nine)) index += 1
    else {
      const from = index
      let [points, exponents] = [0, 0]
      for (; index < text.length; index++) {
        const code = text.charCodeAt(index)
        if (code === point) points += 1
        else if (code === lowerE || code === upperE) exponents += 1
        else if ((code < zero || code > nine) && code !== minus && code !== plus) break
      }
      // A number of up to 15 digits keeps its digits as a float. Longer ones, and those with an exponent, trailing zeros or many leading
      // zeros, may print differently and are tested.
      const isLong = index - from > 15 + points
      const isUnusual = points > 0 && (text.charCodeAt(index - 1) === zero || text.startsWith('.000000', text.indexOf('.', from)))
      if ((isLong || isUnusual || exponents > 0) && isInexact(text.slice(from, index))) found.push({ from, to: index })
    }
  }
  return found
}

const number = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/

const isInexact = (text: string): boolean => number.test(text) && String(Number(text)) !== text

/** Replaces the placeholders by the numbers, in place. */
function replacePlaceholders(value: unknown, placeholder: string, numbers: readonly unknown[]): unknown {
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) {
    for (let index = 0; index < value.length; index++) {
      const item = value[index]
      if (typeof item === 'object' && item !== null) value[index] = replacePlaceholders(item, placeholder, numbers)
    }
    return value
  }
  const parts = value as Record<string, unknown>
  if (Object.hasOwn(parts, placeholder)) return numbers[parts[placeholder] as number]
  for (const key of Object.keys(parts)) {
    const part = parts[key]
    if (typeof part === 'object' && part !== null) parts[key] = replacePlaceholders(part, placeholder, numbers)
  }
  return parts
}
