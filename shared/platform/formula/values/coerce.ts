import { parseDateText, valueOfDateText } from '#shared/platform/formula/values/date-text.ts'
import { formatIsoDate, formatIsoInstant, microsOf, microsPerDay, momentOfSerial, serialOf } from '#shared/platform/formula/values/dates.ts'
import { formatGeneralNumber, parseNumber, roundToReliableDigits } from '#shared/platform/formula/values/number.ts'
import {
  type ErrorValue,
  errorValues,
  isError,
  isMoment,
  type Moment,
  one,
  type Value,
  zero,
} from '#shared/platform/formula/values/value.ts'
import { Decimal } from '#shared/platform/kernel/values/decimal.ts'

/** Separator of the items of a multiselect or refs field in its text. */
export const listSeparator = ', '

/** Converts a value for arithmetic: numeric and date text is parsed, empty and FALSE are 0, TRUE is 1. Anything else is #VALUE!. */
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

/** Converts a value to a number; a date gives its spreadsheet serial number. */
export function toNumber(value: Value): Decimal | ErrorValue {
  const operand = toOperand(value)
  return isMoment(operand) ? serialOf(operand) : operand
}

/** Converts a value to a whole number, truncated towards zero and limited to ±1e15. */
export function toWhole(value: Value): number | ErrorValue {
  const number = toNumber(value)
  return isError(number) ? number : Math.max(-1e15, Math.min(1e15, roundToReliableDigits(number).trunc().toNumber()))
}

/** Converts a value to text: TRUE or FALSE, plain digits, `YYYY-MM-DD`, RFC 3339 in UTC, items joined by a comma. Empty is "". */
export function toText(value: Value): string | ErrorValue {
  if (typeof value === 'string') return value
  if (value === null) return ''
  if (typeof value === 'boolean') return value ? 'TRUE' : 'FALSE'
  if (value instanceof Decimal) return formatGeneralNumber(value)
  if (!('kind' in value)) return value.join(listSeparator)
  if (value.kind === 'error') return value
  return value.kind === 'date' ? formatIsoDate(value.day) : formatIsoInstant(value)
}

/** Values of the names TRUE and FALSE in upper case. */
export const truths: ReadonlyMap<string, boolean> = new Map([
  ['TRUE', true],
  ['FALSE', false],
])

/** Converts a value to a boolean: TRUE for a number other than 0 and the text "TRUE"; empty is FALSE. Other text is #VALUE!. */
export function toBoolean(value: Value): boolean | ErrorValue {
  if (typeof value === 'boolean') return value
  if (value === null) return false
  if (value instanceof Decimal) return !value.isZero()
  if (typeof value === 'string') return (value.length <= 5 ? truths.get(value.toUpperCase()) : undefined) ?? errorValues.value
  return isError(value) ? value : errorValues.value
}

/** Converts a moment, date text or a spreadsheet serial number to a date or an instant. Empty is #VALUE!. */
export function toMoment(value: Value): Moment | ErrorValue {
  const operand = toOperand(value)
  return operand instanceof Decimal ? momentOfSerial(operand) : operand
}

/** Microseconds since midnight of an instant, a text with a time or the fraction of a number. Empty and negative numbers are #VALUE!. */
export function toMicros(value: Value): number | ErrorValue {
  if (value === null) return errorValues.value
  const operand = toOperand(value)
  if (isError(operand)) return operand
  if (isMoment(operand)) return microsOf(operand)
  if (operand.isNegative() && !operand.isZero()) return errorValues.value
  const millis = operand.minus(operand.floor()).times(microsPerDay / 1_000)
  return (millis.round().toNumber() * 1_000) % microsPerDay
}
