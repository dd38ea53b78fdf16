import { isDay, utcInstant } from '#shared/kernel/instant.ts'
import { type FieldKind, ownForm, plainKind } from '#shared/types/fields/kind.ts'
import { refusal } from '#shared/types/fields/refuse.ts'
import { dayFilter, instantFilter } from '#shared/types/fields/time-filter.ts'

/** A day of the calendar, YYYY-MM-DD. */
export const dateKind: FieldKind<string> = {
  ...plainKind,
  type: 'date',
  columns: ['date'],
  filter: dayFilter,
  parse(input, _field, { path }) {
    if (typeof input !== 'string' || !isDay(input)) throw refusal(path, 'a date as YYYY-MM-DD', input)
    return input
  },
  fromColumns: ownForm,
  toCell: (value) => value,
}

/** An instant, kept in UTC to the microsecond. */
export const datetimeKind: FieldKind<string> = {
  ...plainKind,
  type: 'datetime',
  columns: ['timestamptz'],
  filter: instantFilter,
  parse(input, _field, { path }) {
    const value = typeof input === 'string' ? utcInstant(input) : undefined
    if (value === undefined) throw refusal(path, 'a date and time as RFC 3339 writes it, such as 2026-01-31T09:30:00Z', input)
    return value
  },
  fromColumns: ownForm,
  toCell: (value) => value,
}
