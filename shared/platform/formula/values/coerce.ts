import { Decimal } from '#shared/platform/kernel/values/decimal.ts'
import { parseDateText, valueOfDateText } from './date-text.ts'
import { formatIsoDate, formatIsoInstant, microsOf, microsPerDay, momentOfSerial, serialOf } from './dates.ts'
import { formatGeneralNumber, parseNumber, roundToTrusted } from './number.ts'
import { type ErrorValue, errorValues, isError, isMoment, type Moment, one, type Value, zero } from './value.ts'

/** What stands between the items of a multiselect or refs field where its text is wanted. */
export const listSeparator = ', '

/** The number or moment that arithmetic works with: text that reads as one counts, empty is 0, TRUE is 1. Anything else is #VALUE!. */
export function toOperand(value: Value): Decimal | Moment | ErrorValue {
  if (value instanceof Decimal) return value
  if (value === null || value === false) return zero
  if (value === true) return one
  if (typeof value === 'string') return operandOfText(value)
  return 'kind' in value ? value : errorValues.value
}

function operandOfText(text: string): Decimal | Moment | ErrorValue {
  const number = parseNumber(text)
  if (number !== null) return number
  const moment = parseDateText(text)
  return moment === null ? errorValues.value : valueOfDateText(moment)
}

/** The number that a value stands for; a date is its spreadsheet serial number. */
export function toNumber(value: Value): Decimal | ErrorValue {
  const operand = toOperand(value)
  return isMoment(operand) ? serialOf(operand) : operand
}

/** A whole number, cut towards zero and held within what a count or position can be. */
export function toWhole(value: Value): number | ErrorValue {
  const number = toNumber(value)
  return isError(number) ? number : Math.max(-1e15, Math.min(1e15, roundToTrusted(number).trunc().toNumber()))
}

/** The text of a value as `&` joins it: TRUE and FALSE, plain digits, `YYYY-MM-DD`, RFC 3339 in UTC, items with a comma. Empty is "". */
export function toText(value: Value): string | ErrorValue {
  if (typeof value === 'string') return value
  if (value === null) return ''
  if (typeof value === 'boolean') return value ? 'TRUE' : 'FALSE'
  if (value instanceof Decimal) return formatGeneralNumber(value)
  if (!('kind' in value)) return value.join(listSeparator)
  if (value.kind === 'error') return value
  return value.kind === 'date' ? formatIsoDate(value.day) : formatIsoInstant(value)
}

const truths = new Map([
  ['TRUE', true],
  ['FALSE', false],
])

/** Whether a condition holds: a number other than 0, TRUE, the text "TRUE". Empty does not; other text is #VALUE!. */
export function toBoolean(value: Value): boolean | ErrorValue {
  if (typeof value === 'boolean') return value
  if (value === null) return false
  if (value instanceof Decimal) return !value.isZero()
  if (typeof value === 'string') return (value.length <= 5 ? truths.get(value.toUpperCase()) : undefined) ?? errorValues.value
  return isError(value) ? value : errorValues.value
}

/** The date or instant that a value stands for: itself, a text that reads as one, a spreadsheet serial number. Empty is #VALUE!. */
export function toMoment(value: Value): Moment | ErrorValue {
  const operand = toOperand(value)
  return operand instanceof Decimal ? momentOfSerial(operand) : operand
}

/** Microseconds since midnight: of an instant, of a text with a time, of the fraction of a number. Empty and negative numbers are #VALUE!. */
export function toMicros(value: Value): number | ErrorValue {
  if (value === null) return errorValues.value
  const operand = toOperand(value)
  if (isError(operand)) return operand
  if (isMoment(operand)) return microsOf(operand)
  if (operand.isNegative() && !operand.isZero()) return errorValues.value
  const millis = operand.minus(operand.floor()).times(microsPerDay / 1_000)
  return (millis.round().toNumber() * 1_000) % microsPerDay
}
