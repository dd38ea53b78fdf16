import type { FormatPiece } from '#shared/platform/formula/format/format-pieces.ts'
import { roundToReliableDigits } from '#shared/platform/formula/values/number.ts'
import { Decimal } from '#shared/platform/kernel/values/decimal.ts'

type Item =
  | { readonly type: 'digit'; readonly sign: string; readonly isFraction: boolean }
  | { readonly type: 'exponent'; readonly plus: boolean; readonly width: number }
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'point' }

/**
 * One section of a number format. `scale` is the power of ten by which its trailing commas (-3 each) and per cent signs (2 each) multiply
 * the number.
 */
interface Layout {
  readonly items: readonly Item[]
  readonly isGrouped: boolean
  readonly scale: number
}

/** Formats a non-negative number by one section of a number format. */
export function formatNumber(value: Decimal, pieces: readonly FormatPiece[]): string {
  const { items, isGrouped, scale } = layout(pieces)
  const places = items.filter((item) => item.type === 'digit')
  const decimals = places.filter(({ isFraction }) => isFraction).length
  const hasExponent = items.some(({ type }) => type === 'exponent')
  const exponent = hasExponent ? exponentOf(roundToReliableDigits(value), places.length - decimals, decimals) : 0
  const fixed = roundToReliableDigits(value)
    .times(`1e${scale - exponent}`)
    .toFixed(decimals)
  const [whole = '', fraction = ''] = fixed.split('.')
  const digits = whole === '0' ? '' : whole
  return write(items, digits, fraction, isGrouped, exponent)
}

function layout(pieces: readonly FormatPiece[]): Layout {
  const items: Item[] = []
  const source = pieces.map(({ kind, text }) => (kind === 'pattern' && text.length === 1 ? text : '\u0000')).join('')
  const lastDigit = Math.max(...['0', '#', '?'].map((sign) => source.split('.')[0]!.lastIndexOf(sign)))
  let [scale, isGrouped, isFraction, skip] = [0, false, false, 0]
  for (const [index, { kind, text }] of pieces.entries()) {
    if (skip > 0) skip -= 1
    else if (kind === 'literal') items.push({ type: 'text', text })
    else if (kind === 'bracket') items.push({ type: 'text', text: /^\$([^-]*)/.exec(text)?.[1] ?? '' })
    else if (/^[0#?]$/.test(text)) items.push({ type: 'digit', sign: text, isFraction })
    else if (text === '.' && !isFraction) {
      isFraction = true
      items.push({ type: 'point' })
    } else if (text === ',' && /[0#?]/.test(source)) {
      if (index < lastDigit) isGrouped = true
      else scale -= 3
    } else if (/^e$/i.test(text) && /^[+-]0/.test(source.slice(index + 1))) {
      const width = /^[+-](0+)/.exec(source.slice(index + 1))![1]!.length
      items.push({ type: 'exponent', plus: source[index + 1] === '+', width })
      skip = width + 1
    } else {
      if (text === '%') scale += 2
      items.push({ type: 'text', text })
    }
  }
  return { items, isGrouped, scale }
}

/**
 * The exponent of a number in scientific notation with `places` digit places before the point, chosen after rounding. It is a multiple of
 * `places`, as in engineering notation.
 */
function exponentOf(value: Decimal, places: number, decimals: number): number {
  if (value.isZero()) return 0
  const step = Math.max(1, places)
  const exponent = Math.floor(value.e / step) * step
  const rounded = new Decimal(value.times(`1e${-exponent}`).toFixed(decimals))
  return rounded.e >= step ? exponent + step : exponent
}

/** Puts digits into their places. The first place before the point takes all surplus digits; `0` pads, `#` does not. */
function write(items: readonly Item[], whole: string, fraction: string, isGrouped: boolean, exponent: number): string {
  const wholePlaces = items.filter((item) => item.type === 'digit' && !item.isFraction).length
  const signs = items.flatMap((item) => (item.type === 'digit' && !item.isFraction ? [item.sign] : []))
  const padded = fill(whole, signs)
  const grouped = padded.map((digit, index) => (isGrouped && isGroupEnd(padded, index) ? `${digit},` : digit))
  const shownFraction = keptFraction(fraction, items)
  let [wholeAt, fractionAt] = [0, 0]
  return items
    .map((item) => {
      if (item.type === 'text') return item.text
      if (item.type === 'point') return `${wholePlaces === 0 ? whole : ''}.`
      if (item.type === 'exponent') return exponentText(exponent, item.plus, item.width)
      if (item.isFraction) return shownFraction[fractionAt++] ?? ''
      wholeAt += 1
      return wholeAt === 1
        ? grouped.slice(0, grouped.length - signs.length + 1).join('')
        : grouped[grouped.length - signs.length + wholeAt - 1]!
    })
    .join('')
}

/** A text for each digit of the whole part, with padding up to one text for each place. */
function fill(whole: string, signs: readonly string[]): string[] {
  const missing = signs.slice(0, Math.max(0, signs.length - whole.length)).map((sign) => ({ 0: '0', '?': ' ' })[sign] ?? '')
  return [...missing, ...whole]
}

const isGroupEnd = (digits: readonly string[], index: number): boolean =>
  index < digits.length - 1 && (digits.length - 1 - index) % 3 === 0 && /\d/.test(digits[index]!)

/** The fraction digits; trailing zeros are omitted for `#` and blank for `?`. */
function keptFraction(fraction: string, items: readonly Item[]): string[] {
  const signs = items.flatMap((item) => (item.type === 'digit' && item.isFraction ? [item.sign] : []))
  const digits = [...fraction]
  for (let last = digits.length - 1; last >= 0 && digits[last] === '0' && signs[last] !== '0'; last -= 1) {
    digits[last] = signs[last] === '?' ? ' ' : ''
  }
  return digits
}

const exponentText = (exponent: number, plus: boolean, width: number): string =>
  `E${exponent < 0 ? '-' : plus ? '+' : ''}${String(Math.abs(exponent)).padStart(width, '0')}`
