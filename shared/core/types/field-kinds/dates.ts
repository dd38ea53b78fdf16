import { type FieldKind, ownForm, plainKind } from '#shared/core/types/field-kinds/field-kind.ts'
import { dayFilter, instantFilter } from '#shared/core/types/field-kinds/filters/time-filter.ts'
import { refusal } from '#shared/core/types/field-kinds/value-problem.ts'
import { isDay, utcInstant } from '#shared/platform/kernel/time/instant.ts'

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
