import test from 'ava'
import fc from 'fast-check'
import { toFieldValue } from '#shared/platform/formula/field-result.ts'
import { errorValues, isError } from '#shared/platform/formula/values/value.ts'
import { Decimal } from '#shared/platform/kernel/values/decimal.ts'
import { evaluate, shown } from './evaluate.ts'

/** An exact fraction with a denominator above zero; null after a division by zero. */
type Fraction = readonly [numerator: bigint, denominator: bigint] | null

/** A part of a formula and its exact value, computed without the evaluator. */
interface Expression {
  readonly source: string
  readonly value: Fraction
}

const plus = (left: Fraction, right: Fraction): Fraction => left && right && [left[0] * right[1] + right[0] * left[1], left[1] * right[1]]
const times = (left: Fraction, right: Fraction): Fraction => left && right && [left[0] * right[0], left[1] * right[1]]
const negative = (value: Fraction): Fraction => value && [-value[0], value[1]]
const inverse = (value: Fraction): Fraction =>
  value === null || value[0] === 0n ? null : value[0] < 0n ? [-value[1], -value[0]] : [value[1], value[0]]
const powered = (value: Fraction, exponent: number): Fraction => value && [value[0] ** BigInt(exponent), value[1] ** BigInt(exponent)]

const operations: Readonly<Record<string, (left: Fraction, right: Fraction) => Fraction>> = {
  '+': plus,
  '-': (left, right) => plus(left, negative(right)),
  '*': times,
  '/': (left, right) => times(left, inverse(right)),
}

const whole = fc.integer({ min: 0, max: 999 }).map((value): Expression => ({ source: String(value), value: [BigInt(value), 1n] }))
const decimal = fc
  .tuple(fc.integer({ min: 0, max: 9_999 }), fc.integer({ min: 0, max: 99 }))
  .map(
    ([units, cents]): Expression => ({ source: `${units}.${String(cents).padStart(2, '0')}`, value: [BigInt(units * 100 + cents), 100n] }),
  )

/** Operands joined by operators of one precedence, which group from the left. */
const chain = (operand: fc.Arbitrary<Expression>, signs: string, most: number): fc.Arbitrary<Expression> =>
  fc
    .tuple(operand, fc.array(fc.tuple(fc.constantFrom(...signs), operand), { maxLength: most }))
    .map(([first, others]) =>
      others.reduce(
        (left, [sign, right]) => ({ source: `${left.source} ${sign} ${right.source}`, value: operations[sign]!(left.value, right.value) }),
        first,
      ),
    )

const group = chain(whole, '+-', 2).map(({ source, value }): Expression => ({ source: `(${source})`, value }))
const power = fc
  .tuple(whole, fc.integer({ min: 1, max: 3 }))
  .map(([{ source, value }, exponent]): Expression => ({ source: `${source}^${exponent}`, value: powered(value, exponent) }))
/** A sign belongs to the number and not to its power, and a percent sign binds tighter than both. */
const signedPower = power.map(({ source, value }): Expression => {
  const isEven = source.endsWith('2')
  return { source: `-${source}`, value: isEven ? value : negative(value) }
})
const percent = decimal.map(({ source, value }): Expression => ({ source: `${source}%`, value: times(value, [1n, 100n]) }))
const factor = fc.oneof(whole, decimal, group, power, signedPower, percent)

const polynomial = chain(chain(factor, '*', 2), '+-', 4)
const quotients = chain(chain(factor, '*/', 2), '+-', 4)

/** Decimal text of a fraction rounded half away from zero to six places, by integer arithmetic; null beyond 14 digits before them. */
function rounded([numerator, denominator]: readonly [bigint, bigint]): string | null {
  const size = numerator < 0n ? -numerator : numerator
  const scaled = (size * 2_000_000n + denominator) / (2n * denominator)
  if (scaled >= 10n ** 20n) return null
  const text = `${scaled / 1_000_000n}.${String(scaled % 1_000_000n).padStart(6, '0')}`.replace(/\.?0+$/, '')
  return numerator < 0n && scaled > 0n ? `-${text}` : text
}

test('arithmetic: sums and products of decimals are exact to the last digit', (t) => {
  fc.assert(
    fc.property(polynomial, ({ source, value }) => {
      const answer = evaluate(source)
      const [numerator, denominator] = value!
      return answer instanceof Decimal && answer.times(String(denominator)).eq(String(numerator))
    }),
    { numRuns: 2_000 },
  )
  t.pass()
})

test('arithmetic: quotients are exact in every digit that a field stores', (t) => {
  fc.assert(
    fc.property(quotients, ({ source, value }) => {
      const answer = evaluate(source)
      if (value === null) return answer === errorValues.zeroDivision
      return toFieldValue(answer, { type: 'number' }) === rounded(value)
    }),
    { numRuns: 2_000 },
  )
  t.pass()
})

test('arithmetic: comparisons of formulas compare their exact values', (t) => {
  const sign = fc.constantFrom('=', '<>', '<', '<=', '>', '>=')
  const holds: Readonly<Record<string, (order: bigint) => boolean>> = {
    '=': (order) => order === 0n,
    '<>': (order) => order !== 0n,
    '<': (order) => order < 0n,
    '<=': (order) => order <= 0n,
    '>': (order) => order > 0n,
    '>=': (order) => order >= 0n,
  }
  fc.assert(
    fc.property(quotients, sign, whole, (left, operator, right) => {
      const difference = plus(left.value, negative(right.value))
      const answer = shown(`${left.source} ${operator} ${right.source}`)
      return difference === null ? answer === '#DIV/0!' : answer === String(holds[operator]!(difference[0])).toUpperCase()
    }),
    { numRuns: 2_000 },
  )
  t.is(shown('10/4*4 = 10'), 'TRUE')
})

const anything = fc.constantFrom(...'()+-*/^&%=<>,. "#ab1', 'IF(', 'SUM(', 'TEXT(', '"x"', 'n', 's', 'd', 'TRUE', '#N/A', '1e9', '""')

test('arithmetic: no source crashes the evaluator or passes a refusal', (t) => {
  const given = { n: ['number', '-2.5'], s: ['text', 'x'], d: ['date', '2026-01-31'] } as const
  fc.assert(
    fc.property(fc.array(anything, { maxLength: 24 }), (pieces) => {
      try {
        const value = evaluate(pieces.join(''), given)
        return isError(value) || toFieldValue(value, { type: 'text' }) === null || typeof toFieldValue(value, { type: 'text' }) === 'string'
      } catch (error) {
        return (error as { code?: string }).code === 'VALIDATION_ERROR'
      }
    }),
    { numRuns: 2_000 },
  )
  t.pass()
})
