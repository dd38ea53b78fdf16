import { Decimal } from '#shared/platform/kernel/values/decimal.ts'

/** A calendar day, in days since 1970-01-01. */
export interface DateValue {
  readonly kind: 'date'
  readonly day: number
}

/** A point in time in UTC: a day and microseconds since its midnight. */
export interface InstantValue {
  readonly kind: 'instant'
  readonly day: number
  readonly micros: number
}

/** A day with or without a time of day. */
export type Moment = DateValue | InstantValue

type ErrorName = '#NULL!' | '#DIV/0!' | '#VALUE!' | '#REF!' | '#NAME?' | '#NUM!' | '#N/A' | '#LIMIT!'

/** Result of a failed operation. It propagates through every operator and function except those that inspect errors. */
export interface ErrorValue {
  readonly kind: 'error'
  readonly code: ErrorName
}

/** Value of an expression. Null is empty; a list comes from a multiselect or refs field and is never empty. */
export type Value = Decimal | string | boolean | null | Moment | readonly string[] | ErrorValue
export type ValueKind = 'number' | 'text' | 'boolean' | 'empty' | 'date' | 'instant' | 'list' | 'error'

const errorValue = (code: ErrorName): ErrorValue => Object.freeze({ kind: 'error', code })

/** The spreadsheet errors, and `limit` for an evaluation that exceeds its steps. */
export const errorValues = Object.freeze({
  null: errorValue('#NULL!'),
  zeroDivision: errorValue('#DIV/0!'),
  value: errorValue('#VALUE!'),
  reference: errorValue('#REF!'),
  name: errorValue('#NAME?'),
  number: errorValue('#NUM!'),
  notAvailable: errorValue('#N/A'),
  limit: errorValue('#LIMIT!'),
})

export const zero = new Decimal(0)
export const one = new Decimal(1)

const nativeKinds: Readonly<Record<string, ValueKind>> = { string: 'text', boolean: 'boolean' }

/** The kind of a value. */
export function kindOf(value: Value): ValueKind {
  if (value === null) return 'empty'
  if (typeof value !== 'object') return nativeKinds[typeof value]!
  if (value instanceof Decimal) return 'number'
  return 'kind' in value ? value.kind : 'list'
}

/** Whether a result is an error value. */
export const isError = (value: unknown): value is ErrorValue =>
  typeof value === 'object' && value !== null && 'kind' in value && value.kind === 'error'

/** Whether a value is a date or an instant. */
export const isMoment = (value: unknown): value is Moment =>
  typeof value === 'object' && value !== null && 'kind' in value && (value.kind === 'date' || value.kind === 'instant')
