import { Decimal } from '#shared/platform/kernel/values/decimal.ts'

/** A day of the calendar, counted from 1970-01-01. */
export interface DateValue {
  readonly kind: 'date'
  readonly day: number
}

/** A point in time in UTC: a day and the microseconds since its midnight. */
export interface InstantValue {
  readonly kind: 'instant'
  readonly day: number
  readonly micros: number
}

/** A day with or without a time of day. */
export type Moment = DateValue | InstantValue

export type ErrorName = '#NULL!' | '#DIV/0!' | '#VALUE!' | '#REF!' | '#NAME?' | '#NUM!' | '#N/A' | '#LIMIT!'

/** What an operation answers that has no value. It travels through every operator and function except those that look for errors. */
export interface ErrorValue {
  readonly kind: 'error'
  readonly code: ErrorName
}

/** What an expression can be while it is evaluated. Null is empty; a list is what multiselect and refs fields hold, never an empty one. */
export type Value = Decimal | string | boolean | null | Moment | readonly string[] | ErrorValue
export type ValueKind = 'number' | 'text' | 'boolean' | 'empty' | 'date' | 'instant' | 'list' | 'error'

const errorValue = (code: ErrorName): ErrorValue => Object.freeze({ kind: 'error', code })

/** The errors that spreadsheets know, and one more: `limit`, for an evaluation that took too many steps. */
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

/** Whether something that an operation answered is an error value. */
export const isError = (value: unknown): value is ErrorValue =>
  typeof value === 'object' && value !== null && 'kind' in value && value.kind === 'error'

/** Whether a value is a date or an instant. */
export const isMoment = (value: unknown): value is Moment =>
  typeof value === 'object' && value !== null && 'kind' in value && (value.kind === 'date' || value.kind === 'instant')
