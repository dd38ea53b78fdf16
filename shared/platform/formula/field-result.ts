import { roundAt } from '#shared/platform/formula/functions/rounding.ts'
import { toBoolean, toText } from '#shared/platform/formula/values/coerce.ts'
import { parseDateText, valueOfDateText } from '#shared/platform/formula/values/date-text.ts'
import { formatExactInstant, formatIsoDate } from '#shared/platform/formula/values/dates.ts'
import { fitsText } from '#shared/platform/formula/values/text.ts'
import { isError, isMoment, type Moment, type Value } from '#shared/platform/formula/values/value.ts'
import type { FieldType, FieldValue } from '#shared/platform/kernel/field-type.ts'
import { isUuid } from '#shared/platform/kernel/ids.ts'
import { canonicalDecimal, Decimal, isDecimalText } from '#shared/platform/kernel/values/decimal.ts'

/** The field that a formula computes, with the constraints on its value. */
export interface ResultField {
  readonly type: FieldType
  readonly options?: readonly string[] | undefined
  /** Decimal places of a number or an amount; default 6, as stored. */
  readonly scale?: number | undefined
  /** Final check of the value, such as whether an email address or a link is valid. A value that fails leaves the field empty. */
  readonly fits?: ((value: Exclude<FieldValue, null>) => boolean) | undefined
}

type Convert = (value: Exclude<Value, null>, field: ResultField) => FieldValue

const storedScale = 6
/** Numbers have up to 14 digits before the point. */
const tooLarge = new Decimal('1e14')
const maxItems = 100

const textUpTo =
  (maxLength: number): Convert =>
  (value) => {
    const text = toText(value)
    return typeof text === 'string' && fitsText(text, maxLength) && text.isWellFormed() && !text.includes('\0') ? text : null
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

/** The two forms that date and datetime fields accept from a client. */
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

/** The items of a list; text becomes a list of one item. */
const itemsOf = (value: Exclude<Value, null>): readonly string[] => {
  const text = toText(value)
  return isTextList(value) ? value : isError(text) ? [] : [text]
}

const isTextList = (value: Value): value is readonly string[] => Array.isArray(value)

const listOf = (items: readonly string[], isAllowed: (item: string) => boolean): FieldValue =>
  items.length > 0 && items.length <= maxItems && items.every(isAllowed) ? items : null

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
 * Converts a formula's result to a value of its field; null (empty) when it does not fit the field's type
 * (docs/contract/types-and-fields.md#results). Numbers are rounded half away from zero and returned as decimal text, also for currency: the
 * caller adds the code. Text fields accept numbers, dates, TRUE and FALSE as text; number, bool and date fields accept the text that they
 * accept from a client.
 */
export function toFieldValue(result: Value, field: ResultField): FieldValue {
  if (result === null || isError(result)) return null
  const value = converters[field.type](result, field)
  return value === null || field.fits?.(value) === false ? null : value
}
