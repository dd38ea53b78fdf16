import { roundAt } from '#shared/platform/formula/functions/rounding.ts'
import { toBoolean, toText } from '#shared/platform/formula/values/coerce.ts'
import { parseDateText, valueOfDateText } from '#shared/platform/formula/values/date-text.ts'
import { formatExactInstant, formatIsoDate } from '#shared/platform/formula/values/dates.ts'
import { fitsText } from '#shared/platform/formula/values/text.ts'
import { isError, isMoment, type Moment, type Value } from '#shared/platform/formula/values/value.ts'
import type { FieldType, FieldValue } from '#shared/platform/kernel/field-type.ts'
import { isUuid } from '#shared/platform/kernel/ids.ts'
import { canonicalDecimal, Decimal, isDecimalText } from '#shared/platform/kernel/values/decimal.ts'

/** The field that a formula computes, and what its result has to keep to. */
export interface ResultField {
  readonly type: FieldType
  readonly options?: readonly string[] | undefined
  /** Digits after the point of a number or an amount; 6 when absent, as they are stored. */
  readonly scale?: number | undefined
  /** A last question to the value, such as whether an address or a link is valid; a value that fails it leaves the field empty. */
  readonly fits?: ((value: Exclude<FieldValue, null>) => boolean) | undefined
}

type Convert = (value: Exclude<Value, null>, field: ResultField) => FieldValue

const storedScale = 6
/** Numbers have up to 14 digits before the point (document 1, Value formats). */
const tooLarge = new Decimal('1e14')
const mostItems = 100

const textUpTo =
  (most: number): Convert =>
  (value) => {
    const text = toText(value)
    return typeof text === 'string' && fitsText(text, most) && text.isWellFormed() && !text.includes('\0') ? text : null
  }

const anyText = textUpTo(100_000)

const toDecimal: Convert = (value, { scale = storedScale }) => {
  const number = typeof value === 'string' && isDecimalText(value) ? new Decimal(value) : value
  if (!(number instanceof Decimal)) return null
  const rounded = roundAt(number, scale, Decimal.ROUND_HALF_UP)
  return rounded.abs().lt(tooLarge) ? canonicalDecimal(rounded) : null
}

const toBool: Convert = (value) => {
  const truth = typeof value === 'string' || typeof value === 'boolean' ? toBoolean(value) : null
  return isError(truth) ? null : truth
}

/** The two forms that date and datetime fields take from a client. */
const wireTime = /^\d{4}-\d{2}-\d{2}(?:T\d{2}:\d{2}:\d{2}(?:\.\d+)?(?:Z|[+-]\d{2}:\d{2}))?$/i

const toTime =
  (write: (moment: Moment) => string): Convert =>
  (value) => {
    const found = typeof value === 'string' && wireTime.test(value) ? parseDateText(value) : null
    const moment = found === null ? value : valueOfDateText(found)
    return isMoment(moment) ? write(moment) : null
  }

const toOption: Convert = (value, { options = [] }) => {
  const text = toText(value)
  return typeof text === 'string' && options.includes(text) ? text : null
}

/** The items of a list; a text makes a list of one. */
const itemsOf = (value: Exclude<Value, null>): readonly string[] => {
  const text = toText(value)
  return isTextList(value) ? value : isError(text) ? [] : [text]
}

const isTextList = (value: Value): value is readonly string[] => Array.isArray(value)

const listOf = (items: readonly string[], belongs: (item: string) => boolean): FieldValue =>
  items.length > 0 && items.length <= mostItems && items.every(belongs) ? items : null

const toOptions: Convert = (value, { options = [] }) => {
  const items = itemsOf(value)
  return new Set(items).size === items.length ? listOf(items, (item) => options.includes(item)) : null
}

const toReference: Convert = (value) => (typeof value === 'string' && isUuid(value) ? value.toLowerCase() : null)

const toReferences: Convert = (value) =>
  listOf(
    itemsOf(value).map((item) => item.toLowerCase()),
    isUuid,
  )

const converters: Readonly<Record<FieldType, Convert>> = {
  string: textUpTo(500),
  text: anyText,
  email: textUpTo(2_048),
  url: textUpTo(2_048),
  file: anyText,
  number: toDecimal,
  currency: toDecimal,
  bool: toBool,
  date: toTime(({ day }) => formatIsoDate(day)),
  datetime: toTime(formatExactInstant),
  select: toOption,
  multiselect: toOptions,
  ref: toReference,
  refs: toReferences,
}

/**
 * A formula's result as a value of the field that it computes, null (empty) when it does not fit the field's type (decisions, Formula
 * language). Numbers are rounded half away from zero and leave as decimal text, those of a currency too: the caller adds its code. Text
 * fields take numbers, dates, TRUE and FALSE as text; number, bool and date fields take text that they would take from a client.
 */
export function toFieldValue(result: Value, field: ResultField): FieldValue {
  if (result === null || isError(result)) return null
  const value = converters[field.type](result, field)
  return value === null || field.fits?.(value) === false ? null : value
}
