import { toNumber, toOperand, toText } from '#shared/platform/formula/values/coerce.ts'
import { compareValues } from '#shared/platform/formula/values/compare.ts'
import { daysBetween, shiftMoment } from '#shared/platform/formula/values/dates.ts'
import { addNumbers, bounded, roundToReliableDigits } from '#shared/platform/formula/values/number.ts'
import { limitText } from '#shared/platform/formula/values/text.ts'
import { type ErrorValue, errorValues, isError, isMoment, type Value } from '#shared/platform/formula/values/value.ts'
import { Decimal } from '#shared/platform/kernel/values/decimal.ts'

type Operand = Exclude<Value, ErrorValue>
type Binary = (left: Operand, right: Operand) => Value

/** A binary operator. A higher `power` binds tighter. All are left-associative, including `^`. */
interface BinaryOperator {
  readonly power: number
  readonly apply: Binary
  /** Steps in addition to those for its operands. */
  readonly cost?: number
  /** Set for comparisons: a bare word beside a text-like field is read as text there. */
  readonly isComparison?: true
}

const arithmetic =
  (calculate: (left: Decimal, right: Decimal) => Value): Binary =>
  (left, right) => {
    const first = toNumber(left)
    if (isError(first)) return first
    const second = toNumber(right)
    return isError(second) ? second : calculate(first, second)
  }

const comparison = (holds: (order: number) => boolean): BinaryOperator => ({
  power: 10,
  apply: (left, right) => holds(compareValues(left, right)),
  isComparison: true,
})

const add: Binary = (left, right) => {
  const first = toOperand(left)
  const second = toOperand(right)
  if (first instanceof Decimal && second instanceof Decimal) return bounded(addNumbers(first, second))
  if (isError(first)) return first
  if (isError(second)) return second
  if (first instanceof Decimal) return second instanceof Decimal ? errorValues.value : shiftMoment(second, first)
  return second instanceof Decimal ? shiftMoment(first, second) : errorValues.value
}

/** Date minus date is days; date minus number is a date; number minus date is #VALUE!. */
const subtract: Binary = (left, right) => {
  const first = toOperand(left)
  const second = toOperand(right)
  if (first instanceof Decimal && second instanceof Decimal) return bounded(addNumbers(first, second.neg()))
  if (isError(first)) return first
  if (isError(second)) return second
  if (first instanceof Decimal) return errorValues.value
  return isMoment(second) ? daysBetween(second, first) : shiftMoment(first, second.neg())
}

const concatenate: Binary = (left, right) => {
  const first = toText(left)
  if (isError(first)) return first
  const second = toText(right)
  return isError(second) ? second : limitText(first + second)
}

/** Steps for a logarithm, an exponential or a fractional power at 40 digits: up to 150 µs. */
export const transcendentalSteps = 15_000

/** `base ^ exponent`: `0 ^ 0` is #NUM!, 0 to a negative power #DIV/0!, a negative number to a fractional power #NUM!. */
export function raiseToPower(base: Decimal, exponent: Decimal): Value {
  if (!base.isZero()) return bounded(base.pow(roundToReliableDigits(exponent)))
  if (exponent.isZero()) return errorValues.number
  return exponent.isNegative() ? errorValues.zeroDivision : base
}

const divide = (dividend: Decimal, divisor: Decimal): Value =>
  divisor.isZero() ? errorValues.zeroDivision : bounded(dividend.div(divisor))

/** Binary operators by symbol. */
export const binaryOperators: ReadonlyMap<string, BinaryOperator> = new Map<string, BinaryOperator>([
  ['=', comparison((order) => order === 0)],
  ['<>', comparison((order) => order !== 0)],
  ['<', comparison((order) => order < 0)],
  ['<=', comparison((order) => order <= 0)],
  ['>', comparison((order) => order > 0)],
  ['>=', comparison((order) => order >= 0)],
  ['&', { power: 20, apply: concatenate }],
  ['+', { power: 30, apply: add }],
  ['-', { power: 30, apply: subtract }],
  ['*', { power: 40, apply: arithmetic((left, right) => bounded(left.times(right))) }],
  ['/', { power: 40, apply: arithmetic(divide) }],
  ['^', { power: 50, apply: arithmetic(raiseToPower), cost: transcendentalSteps }],
])

/** A sign binds tighter than any binary operator, so `-2 ^ 2` is 4. */
export const signPower = 60
/** Per cent binds tightest: `-10%` is `-(10%)`. */
export const percentPower = 70

/** Unary operators: prefix `-` and `+`, postfix `%`. `+` returns any value unchanged. */
export const unaryOperators: ReadonlyMap<string, (value: Operand) => Value> = new Map<string, (value: Operand) => Value>([
  ['+', (value) => value],
  ['-', (value) => negate(toNumber(value))],
  ['%', (value) => percent(toNumber(value))],
])

const negate = (value: Decimal | ErrorValue): Value => (isError(value) ? value : value.neg())
const percent = (value: Decimal | ErrorValue): Value => (isError(value) ? value : bounded(value.times('0.01')))
