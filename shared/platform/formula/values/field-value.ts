import { parseDateText, valueOfDateText } from '#shared/platform/formula/values/date-text.ts'
import { isError, type Value } from '#shared/platform/formula/values/value.ts'
import { type FieldType, type FieldValue, hasAmount } from '#shared/platform/kernel/field-type.ts'
import { Decimal } from '#shared/platform/kernel/values/decimal.ts'

type Read = (value: FieldValue | undefined) => Value

const asText: Read = (value) => (typeof value === 'string' ? value : null)
const asNumber: Read = (value) => (typeof value === 'string' ? new Decimal(value) : null)
const asBoolean: Read = (value) => (typeof value === 'boolean' ? value : null)
const asAmount: Read = (value) => (hasAmount(value) ? new Decimal(value.amount) : null)
const asList: Read = (value) => (isTextList(value) && value.length > 0 ? value : null)

const asMoment: Read = (value) => {
  const found = typeof value === 'string' ? parseDateText(value) : null
  const moment = found === null ? null : valueOfDateText(found)
  return isError(moment) ? null : moment
}

const isTextList = (value: FieldValue | undefined): value is readonly string[] => Array.isArray(value)

/** Converts a stored field value to a formula value, by field type. A currency is its amount; an empty list is empty. */
export const fieldReaders: Readonly<Record<FieldType, Read>> = {
  string: asText,
  text: asText,
  email: asText,
  url: asText,
  file: asText,
  select: asText,
  ref: asText,
  number: asNumber,
  currency: asAmount,
  bool: asBoolean,
  date: asMoment,
  datetime: asMoment,
  multiselect: asList,
  refs: asList,
}

/** Field types that may be compared with a bare word. */
export const textLikeTypes: ReadonlySet<string> = new Set(
  Object.entries(fieldReaders).flatMap(([type, read]) => (read === asText || read === asList ? [type] : [])),
)
