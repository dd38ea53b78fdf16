import { formulaLimits } from '#shared/platform/formula/limits.ts'
import { type ErrorValue, errorValues } from '#shared/platform/formula/values/value.ts'

const hasPairs = (text: string): boolean => /[\ud800-\udfff]/.test(text)

const isPairAt = (text: string, unit: number): boolean =>
  (text.charCodeAt(unit) & 0xfc00) === 0xd800 && (text.charCodeAt(unit + 1) & 0xfc00) === 0xdc00

/** Number of Unicode code points of a text, or of its first `units` code units. */
export function codePoints(text: string, units = text.length): number {
  if (!hasPairs(text)) return units
  let count = 0
  for (let unit = 0; unit < units; unit += isPairAt(text, unit) ? 2 : 1) count += 1
  return count
}

/** Offset in code units of the code point at an index; the text's length when the text is shorter. */
export function unitIndex(text: string, index: number): number {
  if (!hasPairs(text)) return Math.min(index, text.length)
  let unit = 0
  for (let count = 0; count < index && unit < text.length; count += 1) unit += isPairAt(text, unit) ? 2 : 1
  return unit
}

/** A part of a text by code point positions from 0; surrogate pairs are never split. */
export const sliceCodePoints = (text: string, from: number, to = text.length): string =>
  text.slice(unitIndex(text, from), unitIndex(text, to))

/** Whether a text has at most `maxLength` code points, by default as many as a text field holds. */
export const fitsText = (text: string, maxLength: number = formulaLimits.textLength): boolean =>
  text.length <= maxLength || (text.length <= 2 * maxLength && codePoints(text) <= maxLength)

/** The text itself within the length limit of formulas, else #VALUE!. */
export const limitText = (text: string): string | ErrorValue => (fitsText(text) ? text : errorValues.value)

/** Lower case of the same length, so that positions match. \u0130 is the only letter whose lower case is longer. */
export const foldCase = (text: string): string => text.replaceAll('\u0130', 'i').toLowerCase()
