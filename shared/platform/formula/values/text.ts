import { formulaLimits } from '#shared/platform/formula/limits.ts'
import { type ErrorValue, errorValues } from './value.ts'

const hasPairs = (text: string): boolean => /[\ud800-\udfff]/.test(text)

const isPairAt = (text: string, unit: number): boolean =>
  (text.charCodeAt(unit) & 0xfc00) === 0xd800 && (text.charCodeAt(unit + 1) & 0xfc00) === 0xdc00

/** Unicode code points of a text, or of its first code units. */
export function codePoints(text: string, units = text.length): number {
  if (!hasPairs(text)) return units
  let count = 0
  for (let unit = 0; unit < units; unit += isPairAt(text, unit) ? 2 : 1) count += 1
  return count
}

/** Where, in code units, the code point at an index starts; the text's length when it is shorter. */
export function unitIndex(text: string, index: number): number {
  if (!hasPairs(text)) return Math.min(index, text.length)
  let unit = 0
  for (let count = 0; count < index && unit < text.length; count += 1) unit += isPairAt(text, unit) ? 2 : 1
  return unit
}

/** A part of a text, by code points counted from 0; a character outside the basic plane is never torn apart. */
export const sliceCodePoints = (text: string, from: number, to = text.length): string =>
  text.slice(unitIndex(text, from), unitIndex(text, to))

/** Whether a text holds at most so many code points, by default as many as a text field. */
export const fitsText = (text: string, most: number = formulaLimits.textLength): boolean =>
  text.length <= most || (text.length <= 2 * most && codePoints(text) <= most)

/** The text when a formula may hold one of that length, else #VALUE!. */
export const limitText = (text: string): string | ErrorValue => (fitsText(text) ? text : errorValues.value)

/** Lower case of the same length, so that positions agree. Of all letters only \u0130 has a longer one. */
export const foldCase = (text: string): string => text.replaceAll('\u0130', 'i').toLowerCase()
