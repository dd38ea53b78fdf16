import type { Evaluate, Evaluation } from '#shared/platform/formula/evaluation.ts'
import { defineLazy, defineVariadic, type FormulaFunction, type FunctionTable } from '#shared/platform/formula/functions/definition.ts'
import { numberMomentOrNone, numberOrNone } from '#shared/platform/formula/functions/parameters.ts'
import { compareValues } from '#shared/platform/formula/values/compare.ts'
import { addNumbers, bounded } from '#shared/platform/formula/values/number.ts'
import { errorValues, isError, isMoment, type Moment, type Value, zero } from '#shared/platform/formula/values/value.ts'
import { Decimal } from '#shared/platform/kernel/values/decimal.ts'

type Figures = (Decimal | null)[]

const present = <T>(values: readonly (T | null)[]): T[] => values.filter((value) => value !== null)

const total = (figures: Figures): Decimal => present(figures).reduce(addNumbers, zero)

const average = (...figures: Figures): Value => {
  const count = present(figures).length
  return count === 0 ? errorValues.zeroDivision : bounded(total(figures).div(count))
}

const median = (...figures: Figures): Value => {
  const sorted = present(figures).sort((left, right) => left.cmp(right))
  const middle = sorted.length / 2
  if (sorted.length === 0) return errorValues.number
  return sorted.length % 2 === 1 ? sorted[Math.floor(middle)]! : addNumbers(sorted[middle - 1]!, sorted[middle]!).div(2)
}

/** The least (-1) or greatest (1) value; 0 when there is none. */
const extreme =
  (side: -1 | 1) =>
  (...values: (Decimal | Moment | null)[]): Value =>
    present(values).reduce<Decimal | Moment | null>(
      (best, value) => (best === null || compareValues(value, best) * side > 0 ? value : best),
      null,
    ) ?? zero

/**
 * Defines a function that counts the values, including items of lists, for which `counts` holds. An error among them is a value like
 * others.
 */
const counting = (doc: string, counts: (value: Value) => boolean): FormulaFunction =>
  defineLazy({
    usage: ['value…'],
    min: 1,
    doc,
    call: (args, run) => new Decimal(args.flatMap((arg) => items(arg, run)).filter(counts).length),
  })

function items(arg: Evaluate, run: Evaluation): Value[] {
  const value = arg(run)
  return Array.isArray(value) ? [...value] : [value as Exclude<Value, readonly string[]>]
}

const isNumberOrMoment = (value: Value): boolean => !isError(value) && (isMoment(value) || numberOrNone('').read(value) instanceof Decimal)
const isGap = (value: Value): boolean => value === null || value === ''

/** Functions of several values. They skip empty values and values without a number, as spreadsheets do with cells. */
export const statisticsFunctions: FunctionTable = {
  SUM: defineVariadic(numberOrNone('number'), 'The sum of the numbers.', (...figures) => bounded(total(figures))),
  AVERAGE: defineVariadic(numberOrNone('number'), 'The mean; #DIV/0! without any number.', average),
  MEDIAN: defineVariadic(numberOrNone('number'), 'The middle number; #NUM! without any number.', median),
  MIN: defineVariadic(numberMomentOrNone('value'), 'The least number or earliest date; 0 without any.', extreme(-1)),
  MAX: defineVariadic(numberMomentOrNone('value'), 'The greatest number or latest date; 0 without any.', extreme(1)),
  COUNT: counting('The number of values that are numbers or dates.', isNumberOrMoment),
  COUNTA: counting('The number of values that are not empty; each item of a list counts.', (value) => value !== null),
  COUNTBLANK: counting('The number of values that are empty or "".', isGap),
}
