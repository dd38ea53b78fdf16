import { defineEager, defineVariadic, type FunctionTable } from '#shared/platform/formula/functions/definition.ts'
import { any, text, truth, whole } from '#shared/platform/formula/functions/parameters.ts'
import { formulaLimits } from '#shared/platform/formula/limits.ts'
import { codePoints, limitText, sliceCodePoints } from '#shared/platform/formula/values/text.ts'
import { errorValues, type Value } from '#shared/platform/formula/values/value.ts'
import { Decimal } from '#shared/platform/kernel/values/decimal.ts'

const concatenate = (...texts: string[]): Value => limitText(texts.join(''))

function repeat(part: string, times: number): Value {
  return times < 0 || part.length * times > 2 * formulaLimits.textLength ? errorValues.value : limitText(part.repeat(times))
}

function join(delimiter: string, skipsEmpty: boolean, ...parts: string[]): Value {
  const kept = skipsEmpty ? parts.filter((part) => part !== '') : parts
  const units = kept.reduce((length, part) => length + part.length + delimiter.length, -delimiter.length)
  return units > 2 * formulaLimits.textLength ? errorValues.value : limitText(kept.join(delimiter))
}

const proper = (value: string): string =>
  value.replace(/\p{L}[\p{L}\p{M}]*/gu, (word) => {
    const first = String.fromCodePoint(word.codePointAt(0)!)
    return first.toUpperCase() + word.slice(first.length).toLowerCase()
  })

/** The character of a code point up to `maxCode`. Control character 0 and surrogates are #VALUE!. */
function character(code: number, maxCode: number): Value {
  return code < 1 || code > maxCode || (code >= 0xd800 && code <= 0xdfff) ? errorValues.value : String.fromCodePoint(code)
}

const codeOf = (value: string): Value => (value === '' ? errorValues.value : new Decimal(value.codePointAt(0)!))

const count = [whole('count')] as const

// biome-ignore lint/suspicious/noControlCharactersInRegex: CLEAN removes control characters
const controls = /[\u0000-\u001f]/g

/** Functions that build, cut and change text. Positions and lengths count code points. */
export const textFunctions: FunctionTable = {
  CONCAT: defineVariadic(text('text'), 'The texts joined without a delimiter.', concatenate),
  CONCATENATE: defineVariadic(text('text'), 'The texts joined without a delimiter.', concatenate),
  TEXTJOIN: defineEager({
    takes: [text('delimiter'), truth('skip_empty')],
    rest: text('text'),
    restMin: 1,
    doc: 'The texts joined with a delimiter; each item of a list counts as a text.',
    call: join,
  }),
  LEFT: defineEager({
    takes: [text('text')],
    optional: count,
    doc: 'The first characters; the default count is 1.',
    call: (value, wanted = 1) => (wanted < 0 ? errorValues.value : sliceCodePoints(value, 0, wanted)),
  }),
  RIGHT: defineEager({
    takes: [text('text')],
    optional: count,
    doc: 'The last characters; the default count is 1.',
    call: (value, wanted = 1) => {
      const length = codePoints(value)
      return wanted < 0 ? errorValues.value : sliceCodePoints(value, Math.max(0, length - wanted), length)
    },
  }),
  MID: defineEager({
    takes: [text('text'), whole('start'), whole('count')],
    doc: 'Characters from a position, counted from 1.',
    call: (value, start, wanted) => (start < 1 || wanted < 0 ? errorValues.value : sliceCodePoints(value, start - 1, start - 1 + wanted)),
  }),
  LEN: defineEager({ takes: [text('text')], doc: 'The number of characters.', call: (value) => new Decimal(codePoints(value)) }),
  LOWER: defineEager({ takes: [text('text')], doc: 'The text in lower case.', call: (value) => limitText(value.toLowerCase()) }),
  UPPER: defineEager({ takes: [text('text')], doc: 'The text in upper case.', call: (value) => limitText(value.toUpperCase()) }),
  PROPER: defineEager({
    takes: [text('text')],
    doc: 'The text with the first letter of each word in upper case, the others in lower case.',
    cost: (value) => 4 * value.length,
    call: (value) => limitText(proper(value)),
  }),
  TRIM: defineEager({
    takes: [text('text')],
    doc: 'The text without blanks at both ends, and with one blank in place of several.',
    call: (value) => value.replace(/ +/g, ' ').replace(/^ | $/g, ''),
  }),
  CLEAN: defineEager({ takes: [text('text')], doc: 'The text without control characters.', call: (value) => value.replace(controls, '') }),
  REPT: defineEager({ takes: [text('text'), whole('times')], doc: 'The text repeated.', call: repeat }),
  T: defineEager({
    takes: [any('value')],
    doc: 'The value when it is text, else "".',
    call: (value) => (typeof value === 'string' ? value : ''),
  }),
  CHAR: defineEager({ takes: [whole('code')], doc: 'The character of a code, 1 to 255 (Latin-1).', call: (code) => character(code, 255) }),
  UNICHAR: defineEager({
    takes: [whole('code')],
    doc: 'The character of a Unicode code point.',
    call: (code) => character(code, 0x10ffff),
  }),
  CODE: defineEager({ takes: [text('text')], doc: 'The code point of the first character.', call: codeOf }),
  UNICODE: defineEager({ takes: [text('text')], doc: 'The code point of the first character.', call: codeOf }),
}
