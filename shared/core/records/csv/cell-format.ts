import { invalidValueProblem } from '#shared/core/types/field-kinds/value-problem.ts'
import type { FieldType } from '#shared/platform/kernel/field-type.ts'
import { isDay, toUtcInstant } from '#shared/platform/kernel/time/instant.ts'
import { wallClockToUtc } from '#shared/platform/kernel/time/wall-clock.ts'

/** How a file writes numbers and dates (docs/contract/records.md#numbers-and-dates-of-a-file). */
export interface CellFormat {
  /** The decimal sign. Undefined: a point, and no signs between groups of digits. */
  readonly decimal?: ',' | '.' | undefined
  /** The order of year, month and day. Undefined: only the forms that an export writes. */
  readonly dates?: DateOrder | undefined
  /** The zone of a date and time without an offset. */
  readonly timeZone: string
}

type DateOrder = 'ymd' | 'dmy' | 'mdy'

/**
 * Rewrites a cell as an export would write it, so that the field's own reader can read it. Cells of other field types and blank cells stay as
 * they are. Throws VALIDATION_ERROR that names `path` and the form that the file should have.
 */
export function toExportedCell(cell: string, type: FieldType, format: CellFormat, path: string): string {
  const text = cell.trim()
  const rewritten = text === '' ? undefined : rewriters[type]?.(text, format)
  if (rewritten === undefined) return cell
  if (typeof rewritten === 'string') return rewritten
  throw invalidValueProblem(path, rewritten.rule, text)
}

/** The rewritten text, or the rule that it breaks; undefined where the format leaves the type alone. */
type Rewritten = string | { readonly rule: string } | undefined

const rewriters: Partial<Readonly<Record<FieldType, (text: string, format: CellFormat) => Rewritten>>> = {
  number: (text, { decimal }) => decimal && (toPlainNumber(text, decimal) ?? { rule: numberRules[decimal] }),
  currency: (text, { decimal }) => decimal && (toPlainMoney(text, decimal) ?? { rule: `${numberRules[decimal]}, with or without a code` }),
  date: (text, { dates }) => dates && (toDay(text, dates) ?? { rule: dateRules[dates] }),
  datetime: (text, format) =>
    format.dates && (toInstantText(text, format.dates, format.timeZone) ?? { rule: `${dateRules[format.dates]}, with or without a time` }),
}

const numberRules = {
  ',': 'a number with a decimal comma, such as 1234,56 or 1.234,56',
  '.': 'a number with a decimal point, such as 1234.56 or 1,234.56',
} as const

// Groups are separated by the other sign, an apostrophe or a blank: plain, no-break, thin or narrow. One sign per number, groups of three.
// A number such as 0.123 has no groups, so that a decimal point is never taken for a separator of thousands there.
const digits = (decimal: string, group: string) =>
  new RegExp(`^([+-]?)(\\d*|[1-9]\\d{0,2}(?:([${group}'\u2019 \u00a0\u2009\u202f])\\d{3})(?:\\3\\d{3})*)(?:${decimal}(\\d*))?$`)
const numbers = { ',': digits(',', '.'), '.': digits('\\.', ',') } as const

function toPlainNumber(text: string, decimal: ',' | '.'): string | undefined {
  const match = numbers[decimal].exec(text)
  if (match === null) return undefined
  const [, sign = '', whole = '', , fraction] = match
  if (whole === '' && !fraction) return undefined
  return `${sign}${whole.replace(/\D/g, '')}${fraction === undefined ? '' : `.${fraction}`}`
}

function toPlainMoney(text: string, decimal: ',' | '.'): string | undefined {
  const code = /[A-Z]{3}$/.exec(text)?.[0] ?? ''
  const amount = toPlainNumber(text.slice(0, text.length - code.length).trimEnd(), decimal)
  return amount && `${amount} ${code}`.trimEnd()
}

const dateRules: Readonly<Record<DateOrder, string>> = {
  ymd: 'a date as year of four digits, month and day, such as 2026-12-31',
  dmy: 'a date as day, month and year of four digits, such as 31.12.2026',
  mdy: 'a date as month, day and year of four digits, such as 12/31/2026',
}

const dateForms: Readonly<Record<DateOrder, RegExp>> = {
  ymd: /^(?<year>\d{4})(?<sign>[-/.])(?<month>\d{1,2})\k<sign>(?<day>\d{1,2})$/,
  dmy: /^(?<day>\d{1,2})(?<sign>[-/.])(?<month>\d{1,2})\k<sign>(?<year>\d{4})$/,
  mdy: /^(?<month>\d{1,2})(?<sign>[-/.])(?<day>\d{1,2})\k<sign>(?<year>\d{4})$/,
}

/** The day as YYYY-MM-DD, a form that is read under every order; undefined for other text and for days that do not exist. */
function toDay(text: string, order: DateOrder): string | undefined {
  if (isDay(text)) return text
  const { year, month = '', day = '' } = dateForms[order].exec(text)?.groups ?? {}
  const written = `${year}-${month.padStart(2, '0')}-${day.padStart(2, '0')}`
  return isDay(written) ? written : undefined
}

const timeForm =
  /^(?<date>[\d./-]+)(?:(?:T|,?\s+)(?<hour>\d{1,2}):(?<minute>\d\d)(?::(?<second>\d\d)(?<fraction>\.\d+)?)?(?:\s?(?<half>[AaPp])\.?[Mm]\.?)?\s?(?<offset>[Zz]|[+-]\d\d:\d\d)?)?$/

/** The instant of a date and time; a date alone is its first minute. Without an offset the time is that of the zone's clock. */
function toInstantText(text: string, order: DateOrder, timeZone: string): string | undefined {
  if (toUtcInstant(text) !== undefined) return text
  const { date = '', hour = '0', minute = '00', second = '00', fraction = '', half, offset } = timeForm.exec(text)?.groups ?? {}
  const day = toDay(date, order)
  const hours = hourOf(Number(hour), half)
  // Clocks of zones have no leap seconds: only an instant with an offset can be one.
  if (day === undefined || hours === undefined || (offset === undefined && Number(second) > 59)) return undefined
  const clock = `${day}T${String(hours).padStart(2, '0')}:${minute}:${second}${fraction.slice(0, '.123456'.length)}`
  const instant = offset === undefined ? wallClockToUtc(clock, timeZone) : `${clock}${offset}`
  return instant !== undefined && toUtcInstant(instant) !== undefined ? instant : undefined
}

/** The hour from 0 to 23 of an hour of the whole day, or of the half of the day that `a` or `p` names. */
function hourOf(hour: number, half: string | undefined): number | undefined {
  if (half === undefined) return hour <= 23 ? hour : undefined
  if (hour < 1 || hour > 12) return undefined
  return (hour % 12) + (half.toLowerCase() === 'p' ? 12 : 0)
}
