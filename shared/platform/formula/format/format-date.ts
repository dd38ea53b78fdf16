import type { FormatPiece } from '#shared/platform/formula/format/format-pieces.ts'
import { dayNames, monthNames } from '#shared/platform/formula/values/date-text.ts'
import { microsOf, toCivilDate, weekdayOf } from '#shared/platform/formula/values/dates.ts'
import type { Moment } from '#shared/platform/formula/values/value.ts'
import type { Decimal } from '#shared/platform/kernel/values/decimal.ts'

/** Values for the letters of a date format. `days` is the whole part of the serial number, for hours past 24. */
interface Clock {
  readonly year: number
  readonly month: number
  readonly date: number
  readonly weekday: number
  readonly hour: number
  readonly minute: number
  readonly second: number
  readonly fraction: string
  readonly isHalfDay: boolean
  readonly days: number
}

const padded = (value: number, width: number): string => String(value).padStart(Math.min(width, 2), '0')

const monthText = (month: number, width: number): string => {
  const name = monthNames[month - 1]!
  if (width === 5) return name[0]!
  return width === 4 ? name : width === 3 ? name.slice(0, 3) : padded(month, width)
}

const weekdayText = (weekday: number, width: number): string => (width >= 4 ? dayNames[weekday]! : dayNames[weekday]!.slice(0, 3))

const hourText = ({ hour, isHalfDay }: Clock, width: number): string => padded(isHalfDay ? hour % 12 || 12 : hour, width)

/** Writers by lower-case letter; `n` is a minute, which formats write as `m`. */
const letters: Readonly<Record<string, (clock: Clock, width: number) => string>> = {
  y: ({ year }, width) => (width <= 2 ? padded(year % 100, 2) : String(year).padStart(4, '0')),
  m: ({ month }, width) => monthText(month, width),
  d: ({ date, weekday }, width) => (width >= 3 ? weekdayText(weekday, width) : padded(date, width)),
  h: hourText,
  n: ({ minute }, width) => padded(minute, width),
  s: ({ second }, width) => padded(second, width),
}

const elapsed: Readonly<Record<string, (clock: Clock) => number>> = {
  h: ({ days, hour }) => days * 24 + hour,
  m: ({ days, hour, minute }) => (days * 24 + hour) * 60 + minute,
  s: ({ days, hour, minute, second }) => ((days * 24 + hour) * 60 + minute) * 60 + second,
}

/** Formats a moment by the pieces of a date format. `serial` is its spreadsheet serial number, for elapsed hours as in `[h]:mm`. */
export function formatMoment(moment: Moment, serial: Decimal, pieces: readonly FormatPiece[]): string {
  const clock = clockOf(moment, serial, pieces)
  let before = ''
  const written: string[] = []
  for (const [index, { kind, text }] of pieces.entries()) {
    const letter = text[0]?.toLowerCase() ?? ''
    if (kind === 'literal') written.push(text)
    else if (kind === 'bracket')
      written.push(elapsed[letter] === undefined ? '' : String(elapsed[letter](clock)).padStart(text.length, '0'))
    else if (/^AM\/PM$/i.test(text)) written.push(clock.hour < 12 ? 'AM' : 'PM')
    else if (/^A\/P$/i.test(text)) written.push(clock.hour < 12 ? 'A' : 'P')
    else if (text === '0' && clock.fraction !== '') written.push(clock.fraction[fractionPlace(pieces, index)] ?? '0')
    else written.push(letters[isMinute(pieces, index, before) ? 'n' : letter]?.(clock, text.length) ?? text)
    if (/^[ymdhs]$/.test(letter)) before = letter
  }
  return written.join('')
}

function clockOf(moment: Moment, serial: Decimal, pieces: readonly FormatPiece[]): Clock {
  const micros = microsOf(moment)
  const seconds = Math.floor(micros / 1_000_000)
  return {
    ...toCivilDate(moment.day),
    weekday: weekdayOf(moment.day),
    hour: Math.floor(seconds / 3_600),
    minute: Math.floor(seconds / 60) % 60,
    second: seconds % 60,
    fraction: String(micros % 1_000_000).padStart(6, '0'),
    isHalfDay: pieces.some(({ kind, text }) => kind === 'pattern' && /^(AM\/PM|A\/P)$/i.test(text)),
    days: serial.floor().toNumber(),
  }
}

/** An `m` is a minute directly after an hour or directly before a second, else a month. */
function isMinute(pieces: readonly FormatPiece[], index: number, before: string): boolean {
  if (!/^m{1,2}$/i.test(pieces[index]!.text)) return false
  const after = pieces.slice(index + 1).find(({ kind, text }) => kind !== 'literal' && /^[ymdhs]/i.test(text))
  return before === 'h' || (after !== undefined && /^s/i.test(after.text))
}

/** Index of the fraction digit that a `0` shows: the number of `0` pieces directly before it. */
function fractionPlace(pieces: readonly FormatPiece[], index: number): number {
  let place = 0
  while (pieces[index - place - 1]?.text === '0') place += 1
  return place
}
