import { listSeparator, toMoment } from '#shared/platform/formula/values/coerce.ts'
import { compareMoments, serialOf } from '#shared/platform/formula/values/dates.ts'
import { compareNumbers } from '#shared/platform/formula/values/number.ts'
import { type ErrorValue, isError, isMoment, kindOf, type Moment, type Value, zero } from '#shared/platform/formula/values/value.ts'
import { Decimal } from '#shared/platform/kernel/values/decimal.ts'
import { compareText } from '#shared/platform/kernel/values/text.ts'

type Comparable = Exclude<Value, ErrorValue>
type Single = Exclude<Comparable, null | readonly string[]>

/** Order of kinds as in spreadsheets: numbers and moments, then text, then FALSE and TRUE. */
const rank = (value: Single): number => (typeof value === 'string' ? 1 : typeof value === 'boolean' ? 2 : 0)

/**
 * Compares two values as spreadsheets do; the result is below, equal to or above zero. Text ignores case; an empty value counts as 0, "" or
 * FALSE, by the kind of the other value. Two rules differ from spreadsheets, since records have date and list fields: text is parsed as a
 * date when the other value is a date, and a list is compared as the text of its items joined by commas.
 */
export function compareValues(left: Comparable, right: Comparable): number {
  if (left instanceof Decimal && right instanceof Decimal) return compareNumbers(left, right)
  const first = single(left, right)
  const second = single(right, left)
  if (isMoment(first) && typeof second === 'string') return compareWithText(first, second)
  if (isMoment(second) && typeof first === 'string') return -compareWithText(second, first)
  return rank(first) - rank(second) || compareSameRank(first, second)
}

function single(value: Comparable, other: Comparable): Single {
  if (value === null) return emptyLike(other)
  return typeof value === 'object' && !(value instanceof Decimal) && !('kind' in value) ? value.join(listSeparator) : value
}

function emptyLike(other: Comparable): Single {
  const kind = kindOf(other)
  if (kind === 'boolean') return false
  return kind === 'text' || kind === 'list' ? '' : zero
}

function compareWithText(moment: Moment, text: string): number {
  const other = toMoment(text)
  return isError(other) ? -1 : compareMoments(moment, other)
}

function compareSameRank(first: Single, second: Single): number {
  if (typeof first === 'string' && typeof second === 'string') return compareTexts(first, second)
  if (typeof first === 'boolean' || typeof second === 'boolean') return Number(first) - Number(second)
  if (isMoment(first) && isMoment(second)) return compareMoments(first, second)
  return compareNumbers(numberOf(first), numberOf(second))
}

const numberOf = (value: Single): Decimal => (isMoment(value) ? serialOf(value) : value instanceof Decimal ? value : zero)

const compareTexts = (first: string, second: string): number =>
  first === second ? 0 : compareText(first.toLowerCase(), second.toLowerCase())
