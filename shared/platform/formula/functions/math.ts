import { defineEager, defineVariadic, type FunctionTable } from '#shared/platform/formula/functions/definition.ts'
import { number, numberOrNone } from '#shared/platform/formula/functions/parameters.ts'
import { raiseToPower, transcendentalSteps } from '#shared/platform/formula/parse/operators.ts'
import { bounded, roundToReliableDigits } from '#shared/platform/formula/values/number.ts'
import { errorValues, type Value } from '#shared/platform/formula/values/value.ts'
import { Decimal } from '#shared/platform/kernel/values/decimal.ts'

const transcendentalCost = (): number => transcendentalSteps

/** Above this exponent the result of EXP exceeds the largest number of a formula. */
const greatestExponent = 710

function exponential(value: Decimal): Value {
  if (value.gt(greatestExponent)) return errorValues.number
  return bounded(value.lt(-greatestExponent) ? new Decimal(0) : value.exp())
}

function logarithm(value: Decimal, base: Decimal): Value {
  if (!isAboveZero(value) || !isAboveZero(base)) return errorValues.number
  return base.eq(1) ? errorValues.zeroDivision : bounded(value.log(base))
}

const isAboveZero = (value: Decimal): boolean => value.gt(0)

/** MOD: the remainder of a division, with the sign of the divisor. */
function modulo(dividend: Decimal, divisor: Decimal): Value {
  if (divisor.isZero()) return errorValues.zeroDivision
  const remainder = roundToReliableDigits(dividend).mod(roundToReliableDigits(divisor))
  return remainder.isZero() || remainder.isNegative() === divisor.isNegative() ? remainder : remainder.plus(divisor)
}

function product(...factors: (Decimal | null)[]): Value {
  const numbers = factors.filter((factor) => factor !== null)
  return numbers.length === 0 ? new Decimal(0) : bounded(numbers.reduce((left, right) => left.times(right)))
}

const ten = new Decimal(10)

/** Arithmetic functions. */
export const mathFunctions: FunctionTable = {
  ABS: defineEager({ takes: [number('number')], doc: 'The number without its sign.', call: (value) => value.abs() }),
  SIGN: defineEager({
    takes: [number('number')],
    doc: 'The sign of the number: -1, 0 or 1.',
    call: (value) => new Decimal(value.isZero() ? 0 : value.isNegative() ? -1 : 1),
  }),
  MOD: defineEager({
    takes: [number('number'), number('divisor')],
    doc: 'The remainder of a division, with the sign of the divisor.',
    call: modulo,
  }),
  QUOTIENT: defineEager({
    takes: [number('number'), number('divisor')],
    doc: 'The whole part of a division.',
    call: (value, divisor) => (divisor.isZero() ? errorValues.zeroDivision : roundToReliableDigits(value.div(divisor)).trunc()),
  }),
  POWER: defineEager({
    takes: [number('base'), number('exponent')],
    doc: 'The base to the power of the exponent, as `^`.',
    cost: transcendentalCost,
    call: raiseToPower,
  }),
  SQRT: defineEager({
    takes: [number('number')],
    doc: 'The square root.',
    cost: () => 1_000,
    call: (value) => (value.lt(0) ? errorValues.number : value.sqrt()),
  }),
  EXP: defineEager({ takes: [number('number')], doc: 'e to the power of a number.', cost: transcendentalCost, call: exponential }),
  LN: defineEager({
    takes: [number('number')],
    doc: 'The natural logarithm.',
    cost: transcendentalCost,
    call: (value) => (isAboveZero(value) ? value.ln() : errorValues.number),
  }),
  LOG: defineEager({
    takes: [number('number')],
    optional: [number('base')],
    doc: 'The logarithm to a base; the default is 10.',
    cost: () => 2 * transcendentalSteps,
    call: (value, base = ten) => logarithm(value, base),
  }),
  LOG10: defineEager({
    takes: [number('number')],
    doc: 'The logarithm to base 10.',
    cost: transcendentalCost,
    call: (value) => logarithm(value, ten),
  }),
  PI: defineEager({ takes: [], doc: 'π to 40 digits.', call: () => Decimal.acos(-1) }),
  PRODUCT: defineVariadic(numberOrNone('number'), 'The product of the numbers; arguments without a number are skipped.', product),
}
