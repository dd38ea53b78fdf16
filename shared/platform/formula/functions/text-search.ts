import { defineEager, type FormulaFunction, type FunctionTable } from '#shared/platform/formula/functions/definition.ts'
import { text, whole } from '#shared/platform/formula/functions/parameters.ts'
import { formulaLimits } from '#shared/platform/formula/limits.ts'
import { codePoints, foldCase, limitText, sliceCodePoints, unitIndex } from '#shared/platform/formula/values/text.ts'
import { errorValues, type Value } from '#shared/platform/formula/values/value.ts'
import { Decimal } from '#shared/platform/kernel/values/decimal.ts'

/** Position of a text in another, counted from 1 in code points; #VALUE! when it does not occur. */
function position(within: string, start: number, find: (fromUnit: number) => number): Value {
  if (start < 1 || start > codePoints(within) + 1) return errorValues.value
  const unit = find(unitIndex(within, start - 1))
  return unit < 0 ? errorValues.value : new Decimal(codePoints(within, unit) + 1)
}

const find = (wanted: string, within: string, start = 1): Value => position(within, start, (from) => within.indexOf(wanted, from))

function search(wanted: string, within: string, start = 1): Value {
  if (wanted.length > formulaLimits.patternLength) return errorValues.value
  const pattern = foldCase(wanted)
  const folded = foldCase(within)
  return position(within, start, (from) => (isPattern(pattern) ? findPattern(folded, pattern, from) : folded.indexOf(pattern, from)))
}

/** Part of a pattern between two `*`: each item is a code unit to match, or null for `?`. */
type Segment = readonly (string | null)[]

/** Whether SEARCH treats a text as a pattern: it contains `?`, `*` or `~`. */
const isPattern = (text: string): boolean => /[?*~]/.test(text)

/**
 * Offset in code units of the first match of a pattern, or -1. `?` matches one character, `*` any number, `~` escapes the next character.
 * Each part between two `*` is matched as early as possible and never tried again, so the time is at most the length of the text times the
 * length of the pattern.
 */
function findPattern(text: string, pattern: string, from: number): number {
  const [first = [], ...others] = segments(pattern)
  const start = findSegment(text, first, from)
  if (start < 0) return -1
  let at = start + first.length
  for (const segment of others) {
    const found = findSegment(text, segment, at)
    if (found < 0) return -1
    at = found + segment.length
  }
  return start
}

function segments(pattern: string): Segment[] {
  const found: (string | null)[][] = [[]]
  for (let index = 0; index < pattern.length; index += 1) {
    const unit = pattern[index]!
    if (unit === '*') found.push([])
    else if (unit === '~' && index + 1 < pattern.length) found.at(-1)!.push(pattern[++index]!)
    else found.at(-1)!.push(unit === '?' ? null : unit)
  }
  return found
}

function findSegment(text: string, segment: Segment, from: number): number {
  for (let start = from; start + segment.length <= text.length; start += 1) {
    if (segment.every((unit, index) => unit === null || unit === text[start + index])) return start
  }
  return -1
}

/** Replaces every occurrence, or only the occurrence with the given number, counted from 1. */
function substitute(value: string, old: string, replacement: string, occurrence?: number): Value {
  if (occurrence !== undefined && occurrence < 1) return errorValues.value
  if (old === '') return value
  const parts = value.split(old)
  if (occurrence !== undefined) {
    if (occurrence >= parts.length) return value
    return limitText(`${parts.slice(0, occurrence).join(old)}${replacement}${parts.slice(occurrence).join(old)}`)
  }
  const units = value.length + (parts.length - 1) * (replacement.length - old.length)
  return units > 2 * formulaLimits.textLength ? errorValues.value : limitText(parts.join(replacement))
}

function replace(value: string, start: number, count: number, replacement: string): Value {
  if (start < 1 || count < 0) return errorValues.value
  return limitText(`${sliceCodePoints(value, 0, start - 1)}${replacement}${sliceCodePoints(value, start - 1 + count)}`)
}

const takes = [text('find'), text('within')] as const
const start = [whole('start')] as const

/** EXACT compares its two arguments, so the second may be a bare word. */
const exact: FormulaFunction = {
  ...defineEager({
    takes: [text('text'), text('other')],
    doc: 'Whether two texts are the same, including letter case.',
    call: (value, other) => value === other,
  }),
  takesWord: (index) => index === 1,
}

/** Functions that find and replace text. */
export const textSearchFunctions: FunctionTable = {
  FIND: defineEager({ takes, optional: start, doc: 'The position of a text in another; letter case counts.', call: find }),
  SEARCH: defineEager({
    takes,
    optional: start,
    doc: 'The position of a text in another, ignoring letter case; `?` matches one character, `*` any number, `~` escapes the next character.',
    cost: (wanted, within) => (isPattern(wanted) ? (wanted.length * within.length) >> 2 : 0),
    call: search,
  }),
  SUBSTITUTE: defineEager({
    takes: [text('text'), text('old'), text('new')],
    optional: [whole('occurrence')],
    cost: (value) => value.length,
    doc: 'The text with every occurrence of a text replaced by another, or only the occurrence of that number.',
    call: substitute,
  }),
  REPLACE: defineEager({
    takes: [text('text'), whole('start'), whole('count'), text('new')],
    doc: 'The text with a number of characters from a position replaced by another text.',
    call: replace,
  }),
  EXACT: exact,
}
