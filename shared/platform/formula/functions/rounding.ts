import { defineEager, type FormulaFunction, type FunctionTable } from '#shared/platform/formula/functions/definition.ts'
import { number, whole } from '#shared/platform/formula/functions/parameters.ts'
import { bounded, roundToReliableDigits } from '#shared/platform/formula/values/number.ts'
import { errorValues, one, type Value, zero } from '#shared/platform/formula/values/value.ts'
import { Decimal } from '#shared/platform/kernel/values/decimal.ts'

/** A rounding mode of decimal.js. */
type Rounding = (typeof Decimal)['ROUND_UP' | 'ROUND_DOWN' | 'ROUND_CEIL' | 'ROUND_FLOOR' | 'ROUND_HALF_UP']

/** The greatest number of places to round at, before or after the point: no number of a formula has digits further out. */
const outermostDigit = 400

/** Rounds to `digits` places after the point, or before it when negative, by a rounding mode of decimal.js. */
export function roundAt(value: Decimal, digits: number, mode: Rounding): Decimal {
  const places = Math.max(-outermostDigit, Math.min(outermostDigit, digits))
  const exact = roundToReliableDigits(value)
  if (places >= 0) return exact.toDecimalPlaces(places, mode)
  return exact.times(`1e${places}`).toDecimalPlaces(0, mode).times(`1e${-places}`)
}

const toDigits = (doc: string, mode: Rounding): FormulaFunction =>
  defineEager({
    takes: [number('number')],
    optional: [whole('digits')],
    doc,
    call: (value, digits = 0) => bounded(roundAt(value, digits, mode)),
  })

/** Rounds a value to a multiple by a rounding mode. */
const multiples = (value: Decimal, multiple: Decimal, mode: Rounding): Value =>
  bounded(roundAt(value.div(multiple), 0, mode).times(multiple))

/** CEILING and FLOOR: the sign of the multiple counts; a positive number with a negative multiple is #NUM!. */
const toMultiple =
  (mode: Rounding, forZeroMultiple: (value: Decimal) => Value) =>
  (value: Decimal, multiple: Decimal = one): Value => {
    if (multiple.isZero()) return forZeroMultiple(value)
    return value.gt(0) && multiple.isNegative() ? errorValues.number : multiples(value, multiple, mode)
  }

/** The .MATH and .PRECISE forms: the sign of the multiple is ignored; a mode other than 0 reverses the direction for negative numbers. */
const toAbsoluteMultiple =
  (rounding: Rounding, reversed: Rounding) =>
  (value: Decimal, multiple: Decimal = one, mode: Decimal = zero): Value =>
    multiple.isZero() ? zero : multiples(value, multiple.abs(), value.isNegative() && !mode.isZero() ? reversed : rounding)

const nearestMultiple = (value: Decimal, multiple: Decimal): Value => {
  if (value.isZero() || multiple.isZero()) return zero
  return value.isNegative() === multiple.isNegative() ? multiples(value, multiple, Decimal.ROUND_HALF_UP) : errorValues.number
}

/** Rounds away from zero to an even number (`offset` 0) or an odd one (`offset` 1). */
const awayFromZero = (value: Decimal, offset: 0 | 1): Value => {
  const size = roundAt(value.abs().minus(offset).div(2), 0, Decimal.ROUND_CEIL).times(2).plus(offset)
  const nearest = size.lt(offset) ? new Decimal(offset) : size
  return value.isNegative() ? nearest.neg() : nearest
}

const multiple = [number('multiple')] as const
const multipleAndMode = [number('multiple'), number('mode')] as const

/** Rounding functions. All work on decimals, so `ROUND(2.675, 2)` is 2.68. */
export const roundingFunctions: FunctionTable = {
  ROUND: toDigits('Rounds to a number of digits after the point, half away from zero.', Decimal.ROUND_HALF_UP),
  ROUNDUP: toDigits('Rounds away from zero.', Decimal.ROUND_UP),
  ROUNDDOWN: toDigits('Rounds towards zero.', Decimal.ROUND_DOWN),
  TRUNC: toDigits('Truncates to a number of digits after the point, as ROUNDDOWN.', Decimal.ROUND_DOWN),
  INT: defineEager({
    takes: [number('number')],
    doc: 'Rounds down to a whole number.',
    call: (value) => roundToReliableDigits(value).floor(),
  }),
  MROUND: defineEager({
    takes: [number('number'), number('multiple')],
    doc: 'The nearest multiple; both numbers need the same sign.',
    call: nearestMultiple,
  }),
  CEILING: defineEager({
    takes: [number('number')],
    optional: multiple,
    doc: 'The next higher multiple; the default multiple is 1.',
    call: toMultiple(Decimal.ROUND_CEIL, () => zero),
  }),
  FLOOR: defineEager({
    takes: [number('number')],
    optional: multiple,
    doc: 'The next lower multiple; the default multiple is 1.',
    call: toMultiple(Decimal.ROUND_FLOOR, (value) => (value.isZero() ? zero : errorValues.zeroDivision)),
  }),
  'CEILING.MATH': defineEager({
    takes: [number('number')],
    optional: multipleAndMode,
    doc: 'The next higher multiple; with a mode other than 0 negative numbers are rounded away from zero.',
    call: toAbsoluteMultiple(Decimal.ROUND_CEIL, Decimal.ROUND_FLOOR),
  }),
  'CEILING.PRECISE': defineEager({
    takes: [number('number')],
    optional: multiple,
    doc: 'The next higher multiple; the sign of the multiple is ignored.',
    call: toAbsoluteMultiple(Decimal.ROUND_CEIL, Decimal.ROUND_CEIL),
  }),
  'FLOOR.MATH': defineEager({
    takes: [number('number')],
    optional: multipleAndMode,
    doc: 'The next lower multiple; with a mode other than 0 negative numbers are rounded towards zero.',
    call: toAbsoluteMultiple(Decimal.ROUND_FLOOR, Decimal.ROUND_CEIL),
  }),
  'FLOOR.PRECISE': defineEager({
    takes: [number('number')],
    optional: multiple,
    doc: 'The next lower multiple; the sign of the multiple is ignored.',
    call: toAbsoluteMultiple(Decimal.ROUND_FLOOR, Decimal.ROUND_FLOOR),
  }),
  EVEN: defineEager({ takes: [number('number')], doc: 'The next even number away from zero.', call: (value) => awayFromZero(value, 0) }),
  ODD: defineEager({ takes: [number('number')], doc: 'The next odd number away from zero.', call: (value) => awayFromZero(value, 1) }),
}
