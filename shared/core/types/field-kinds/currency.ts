import { type FieldKind, type ParseContext, plainKind } from '#shared/core/types/field-kinds/field-kind.ts'
import { amountFilter } from '#shared/core/types/field-kinds/filters/value-filter.ts'
import { checkRange, parseAmount, trimAmount } from '#shared/core/types/field-kinds/number.ts'
import { invalidValueProblem } from '#shared/core/types/field-kinds/value-problem.ts'
import type { TypedRules } from '#shared/core/types/fields/field.ts'
import { problem } from '#shared/platform/kernel/errors.ts'
import { type FieldValue, hasAmount, type Money } from '#shared/platform/kernel/field-type.ts'
import { unknownKeyProblem } from '#shared/platform/kernel/known-keys.ts'
import { isCurrencyCode } from '#shared/platform/kernel/values/currency.ts'
import { jsonNumberText, toJsonNumber } from '#shared/platform/kernel/values/json.ts'

interface SentMoney {
  readonly amount?: unknown
  readonly code?: unknown
}

const moneyKeys: readonly string[] = ['amount', 'code'] satisfies (keyof SentMoney)[]

const isBare = (input: unknown): boolean => typeof input === 'string' || jsonNumberText(input) !== undefined

function parseMoney(input: unknown, field: TypedRules, context: ParseContext): Money {
  const { path } = context
  if (isBare(input)) return { amount: parseAmount(input, path), code: field.rules.unit ?? context.defaultCurrency }
  if (typeof input !== 'object' || input === null || Array.isArray(input))
    throw invalidValueProblem(path, 'a number or {amount, code}', input)
  const unknown = Object.keys(input).find((key) => !moneyKeys.includes(key))
  if (unknown !== undefined) throw unknownKeyProblem(`${path}.${unknown}`, unknown, moneyKeys, 'a currency value')
  const { amount, code } = input as SentMoney
  if (amount === undefined) throw problem('VALIDATION_ERROR', `${path}.amount is required`)
  const currency = field.rules.unit ?? (code == null ? context.defaultCurrency : parseCurrencyCode(code, `${path}.code`))
  return { amount: parseAmount(amount, `${path}.amount`), code: currency }
}

/** Reads an ISO 4217 code; throws VALIDATION_ERROR otherwise. */
export function parseCurrencyCode(input: unknown, path: string): string {
  if (typeof input !== 'string' || !isCurrencyCode(input)) throw invalidValueProblem(path, 'an ISO 4217 currency code such as EUR', input)
  return input
}

/** The default as applied to a new record: a currency default without a code takes the workspace's current currency. */
export function withCurrency(value: FieldValue, defaultCurrency: string): FieldValue {
  return hasAmount(value) && value.code === '' ? { amount: value.amount, code: defaultCurrency } : value
}

const amountAndCode = /^(\S+?)\s*([A-Z]{3})$/

/** An exact amount of a currency, in two columns. Filters, sorting and the rules `min` and `max` use the amount only. */
export const currencyKind: FieldKind<Money> = {
  ...plainKind,
  type: 'currency',
  columns: ['numeric(20,6)', 'text'],
  ruleKeys: ['min', 'max', 'unit'],
  filter: amountFilter,
  parse: parseMoney,
  check(value, field, path) {
    checkRange(value.amount, field, path)
    const { unit = value.code } = field.rules
    if (value.code !== unit) throw invalidValueProblem(`${path}.code`, unit, value.code)
  },
  toColumns: (value) => [value?.amount ?? null, value?.code ?? null],
  fromColumns: ([amount, code]) => (amount == null ? null : { amount: trimAmount(amount as string), code: code as string }),
  toJson: ({ amount, code }) => ({ amount: toJsonNumber(amount), code }),
  fromCell(text) {
    const [, amount, code] = amountAndCode.exec(text.trim()) ?? []
    return amount === undefined ? text.trim() || null : { amount, code }
  },
  toCell: ({ amount, code }) => `${amount} ${code}`,
}
