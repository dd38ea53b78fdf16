import { formatMoment } from '#shared/platform/formula/format/format-date.ts'
import { formatNumber } from '#shared/platform/formula/format/format-number.ts'
import { type FormatPiece, parseFormat } from '#shared/platform/formula/format/format-pieces.ts'
import { formulaLimits } from '#shared/platform/formula/limits.ts'
import { toOperand, toText } from '#shared/platform/formula/values/coerce.ts'
import { momentOfSerial, serialOf } from '#shared/platform/formula/values/dates.ts'
import { formatGeneralNumber } from '#shared/platform/formula/values/number.ts'
import { limitText } from '#shared/platform/formula/values/text.ts'
import { type ErrorValue, errorValues, isError, isMoment, type Moment, type Value } from '#shared/platform/formula/values/value.ts'
import type { Decimal } from '#shared/platform/kernel/values/decimal.ts'

const isDatePiece = ({ kind, text }: FormatPiece): boolean =>
  kind === 'bracket' ? /^(h+|m+|s+)$/i.test(text) : kind === 'pattern' && /^(y+|m+|d+|h+|s+|AM\/PM|A\/P)$/i.test(text)

/** Formats a value by a spreadsheet format: `0.00`, `#,##0`, `0%`, `yyyy-mm-dd`, `h:mm AM/PM`. Text that is not a number is unchanged. */
export function formatValue(value: Value, format: string): string | ErrorValue {
  if (format.length > formulaLimits.patternLength) return errorValues.value
  if (typeof value === 'boolean') return toText(value)
  const operand = toOperand(value)
  const sections = parseFormat(format)
  if (isError(operand)) return typeof value === 'string' ? formatText(value, sections) : operand
  if (sections.length > 1 || !sections[0]!.some(isDatePiece))
    return formatNumeric(isMoment(operand) ? serialOf(operand) : operand, sections)
  return formatTime(operand, sections[0]!)
}

function formatTime(operand: Decimal | Moment, pieces: readonly FormatPiece[]): string | ErrorValue {
  if (isMoment(operand)) return formatMoment(operand, serialOf(operand), pieces)
  if (operand.isNegative() && !operand.isZero()) return errorValues.value
  const moment = momentOfSerial(operand.lt(1) ? operand.plus(1) : operand)
  return isError(moment) ? moment : formatMoment(moment, operand, pieces)
}

/**
 * The sections of a format apply to positive numbers, negative numbers, zero and text, in this order. A missing section falls back to the
 * first one, with a sign for negative numbers.
 */
function formatNumeric(value: Decimal, sections: readonly FormatPiece[][]): string {
  const isNegative = value.isNegative() && !value.isZero()
  const [positive, negative = null, zero = positive] = sections
  const chosen = isNegative ? (negative ?? positive) : value.isZero() ? zero : positive
  const pieces = chosen ?? []
  if (pieces.some(({ kind, text }) => kind === 'pattern' && (text === '@' || text.toLowerCase() === 'general'))) {
    return pieces.map((piece) => (piece.kind === 'pattern' ? formatGeneralNumber(value) : piece.text)).join('')
  }
  const text = formatNumber(value.abs(), pieces)
  return isNegative && negative === null && /[1-9]/.test(text) ? `-${text}` : text
}

const isTextPlace = ({ kind, text }: FormatPiece): boolean => kind === 'pattern' && text === '@'

/** Text replaces `@` in the fourth section, or else in the first section with `@`. Without such a section the text is unchanged. */
function formatText(value: string, sections: readonly FormatPiece[][]): string | ErrorValue {
  const pieces = sections[3] ?? sections.find((section) => section.some(isTextPlace))
  if (pieces === undefined) return value
  if (pieces.filter(isTextPlace).length * value.length > 2 * formulaLimits.textLength) return errorValues.value
  return limitText(pieces.map((piece) => (isTextPlace(piece) ? value : piece.text)).join(''))
}
