import type { Parameter } from '#shared/platform/formula/functions/definition.ts'
import { toBoolean, toMoment, toNumber, toText, toWhole } from '#shared/platform/formula/values/coerce.ts'
import { parseNumber } from '#shared/platform/formula/values/number.ts'
import { type ErrorValue, isError, isMoment, type Moment, type Value } from '#shared/platform/formula/values/value.ts'
import type { Decimal } from '#shared/platform/kernel/values/decimal.ts'

type Given = Exclude<Value, ErrorValue>

/** A number; numeric text is converted, empty is 0. */
export const number = (label: string): Parameter<Decimal> => ({ label, read: toNumber })
/** A whole number, truncated towards zero. */
export const whole = (label: string): Parameter<number> => ({ label, read: toWhole })
export const text = (label: string): Parameter<string> => ({ label, read: toText })
/** TRUE or FALSE; a number is FALSE when it is 0, else TRUE. */
export const truth = (label: string): Parameter<boolean> => ({ label, read: toBoolean })
/** A date or an instant. */
export const moment = (label: string): Parameter<Moment> => ({ label, read: toMoment })
/** A date, an instant, or null for an empty argument. */
export const momentOrNone = (label: string): Parameter<Moment | null> => ({
  label,
  read: (value) => (value === null ? null : toMoment(value)),
})
/** Any value, unchanged. */
export const any = (label: string): Parameter<Given> => ({ label, read: (value) => value })

/** A number as SUM and similar functions read it: null for an empty argument and for text that is not a number. */
export const numberOrNone = (label: string): Parameter<Decimal | null> => ({ label, read: readNumberOrNone })

/** As `numberOrNone`, but a date or an instant stays one. */
export const numberMomentOrNone = (label: string): Parameter<Decimal | Moment | null> => ({
  label,
  read: (value) => (isMoment(value) ? value : readNumberOrNone(value)),
})

function readNumberOrNone(value: Given): Decimal | null {
  if (value === null) return null
  if (typeof value === 'string') return parseNumber(value)
  const number = toNumber(value)
  return isError(number) ? null : number
}
