import { formatNumber } from '#shared/platform/formula/format/format-number.ts'
import { parseFormat } from '#shared/platform/formula/format/format-pieces.ts'
import { formatValue } from '#shared/platform/formula/format/format-value.ts'
import { defineEager, type FunctionTable } from '#shared/platform/formula/functions/definition.ts'
import { any, number, text, truth, whole } from '#shared/platform/formula/functions/parameters.ts'
import { roundAt } from '#shared/platform/formula/functions/rounding.ts'
import { toNumber } from '#shared/platform/formula/values/coerce.ts'
import { bounded } from '#shared/platform/formula/values/number.ts'
import { errorValues, type Value } from '#shared/platform/formula/values/value.ts'
import { Decimal, isDecimalText } from '#shared/platform/kernel/values/decimal.ts'

/** Greatest number of decimals that FIXED accepts; more is #VALUE!. */
const maxDecimals = 127

/** Greatest number of characters that NUMBERVALUE reads; more is #VALUE!. */
const maxCharacters = 400

function fixed(value: Decimal, decimals = 2, plain = false): Value {
  if (decimals > maxDecimals) return errorValues.value
  const places = '0'.repeat(Math.max(0, decimals))
  const format = `${plain ? '0' : '#,##0'}${places && `.${places}`}`
  const rounded = roundAt(value, decimals, Decimal.ROUND_HALF_UP)
  const digits = formatNumber(rounded.abs(), parseFormat(format)[0]!)
  return rounded.isNegative() && !rounded.isZero() ? `-${digits}` : digits
}

/** NUMBERVALUE. Each trailing per cent sign divides by 100. Blanks and one leading currency sign are ignored. */
function numberValue(value: string, point = '.', group = ','): Value {
  if (value.length > maxCharacters || point === '' || group === '') return errorValues.value
  const bare = value.replace(/\s/g, '').replace(/^[$€£]/, '')
  const digits = bare.replace(/%+$/, '')
  const [whole = '', fraction, ...more] = digits.split(point[0]!)
  if (more.length > 0 || fraction?.includes(group[0]!)) return errorValues.value
  const plain = `${whole.replaceAll(group[0]!, '')}${fraction === undefined ? '' : `.${fraction}`}`
  if (plain === '') return new Decimal(0)
  return isDecimalText(plain) ? bounded(new Decimal(plain).times(`1e-${2 * (bare.length - digits.length)}`)) : errorValues.value
}

/** Functions that convert between numbers and text. */
export const textNumberFunctions: FunctionTable = {
  VALUE: defineEager({
    takes: [any('text')],
    doc: 'The number in a text; for a date its serial number.',
    call: (value) => (typeof value === 'boolean' ? errorValues.value : toNumber(value)),
  }),
  NUMBERVALUE: defineEager({
    takes: [text('text')],
    optional: [text('decimal_sign'), text('group_sign')],
    doc: 'The number in a text that uses other decimal and group signs.',
    call: numberValue,
  }),
  TEXT: defineEager({
    takes: [any('value'), text('format')],
    doc: 'A number or date formatted by a spreadsheet format.',
    call: formatValue,
  }),
  FIXED: defineEager({
    takes: [number('number')],
    optional: [whole('decimals'), truth('plain')],
    doc: 'A number with a number of decimals (default 2) as text, with commas between thousands unless plain.',
    call: fixed,
  }),
}
