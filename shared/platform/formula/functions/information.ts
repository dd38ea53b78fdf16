import { defineEager, defineLazy, type FormulaFunction, type FunctionTable } from '#shared/platform/formula/functions/definition.ts'
import { any, number } from '#shared/platform/formula/functions/parameters.ts'
import { toNumber } from '#shared/platform/formula/values/coerce.ts'
import { roundToReliableDigits } from '#shared/platform/formula/values/number.ts'
import { errorValues, isError, kindOf, one, type Value, type ValueKind, zero } from '#shared/platform/formula/values/value.ts'
import { Decimal } from '#shared/platform/kernel/values/decimal.ts'

/** Defines a function that inspects any value, including errors. */
const inspect = (doc: string, answer: (value: Value) => Value): FormulaFunction =>
  defineLazy({ usage: ['value'], min: 1, max: 1, doc, call: (args, run) => answer(args[0]!(run)) })

const isEven = (value: Decimal): boolean => roundToReliableDigits(value).trunc().mod(2).isZero()

/** Results of TYPE, as in spreadsheets; 1 also for dates, instants and empty. */
const typeNumbers: Readonly<Record<ValueKind, number>> = {
  number: 1,
  date: 1,
  instant: 1,
  empty: 1,
  text: 2,
  boolean: 4,
  error: 16,
  list: 64,
}

/** Results of ERROR.TYPE, as in spreadsheets. */
const errorNumbers = new Map<Value, number>(
  [
    errorValues.null,
    errorValues.zeroDivision,
    errorValues.value,
    errorValues.reference,
    errorValues.name,
    errorValues.number,
    errorValues.notAvailable,
  ].map((error, index) => [error, index + 1]),
)

function errorNumber(value: Value): Value {
  const found = errorNumbers.get(value)
  return found === undefined ? errorValues.notAvailable : new Decimal(found)
}

const numeric: ReadonlySet<ValueKind> = new Set(['number', 'date', 'instant'])

/** Functions that inspect the kind of a value. */
export const informationFunctions: FunctionTable = {
  ISBLANK: inspect('Whether the value is empty. The text "" is not.', (value) => value === null),
  ISERROR: inspect('Whether the value is an error.', isError),
  ISERR: inspect('Whether the value is an error other than #N/A.', (value) => isError(value) && value !== errorValues.notAvailable),
  ISNA: inspect('Whether the value is #N/A.', (value) => value === errorValues.notAvailable),
  ISNUMBER: inspect('Whether the value is a number, a date or an instant.', (value) => numeric.has(kindOf(value))),
  ISTEXT: inspect('Whether the value is text.', (value) => typeof value === 'string'),
  ISNONTEXT: inspect('Whether the value is anything but text.', (value) => typeof value !== 'string'),
  ISLOGICAL: inspect('Whether the value is TRUE or FALSE.', (value) => typeof value === 'boolean'),
  ISEVEN: defineEager({ takes: [number('number')], doc: 'Whether the whole part is even.', call: isEven }),
  ISODD: defineEager({ takes: [number('number')], doc: 'Whether the whole part is odd.', call: (value) => !isEven(value) }),
  'ERROR.TYPE': inspect('The number of an error, 1 to 7; #N/A for anything else.', errorNumber),
  TYPE: inspect(
    '1 for a number or date, 2 for text, 4 for TRUE and FALSE, 16 for an error, 64 for a list.',
    (value) => new Decimal(typeNumbers[kindOf(value)]),
  ),
  N: defineEager({
    takes: [any('value')],
    doc: 'The value as a number: the serial number of a date, 1 for TRUE, 0 for text.',
    call: (value) => (value === true ? one : numeric.has(kindOf(value)) ? toNumber(value) : zero),
  }),
  NA: defineEager({ takes: [], doc: 'The error #N/A.', call: () => errorValues.notAvailable }),
}
