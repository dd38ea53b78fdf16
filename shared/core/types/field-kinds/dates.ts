import { type FieldKind, plainKind, readFirstCell } from '#shared/core/types/field-kinds/field-kind.ts'
import { dayFilter, instantFilter } from '#shared/core/types/field-kinds/filters/time-filter.ts'
import { invalidValueProblem } from '#shared/core/types/field-kinds/value-problem.ts'
import { isDay, toUtcInstant } from '#shared/platform/kernel/time/instant.ts'

/** A calendar day, YYYY-MM-DD. */
export const dateKind: FieldKind<string> = {
  ...plainKind,
  type: 'date',
  columns: ['date'],
  filter: dayFilter,
  parse(input, _field, { path }) {
    if (typeof input !== 'string' || !isDay(input)) throw invalidValueProblem(path, 'a date as YYYY-MM-DD', input)
    return input
  },
  fromColumns: readFirstCell,
  toCell: (value) => value,
}

/** An instant, stored in UTC with microsecond precision. */
export const datetimeKind: FieldKind<string> = {
  ...plainKind,
  type: 'datetime',
  columns: ['timestamptz'],
  filter: instantFilter,
  parse(input, _field, { path }) {
    const value = typeof input === 'string' ? toUtcInstant(input) : undefined
    if (value === undefined) throw invalidValueProblem(path, 'a date and time as RFC 3339 writes it, such as 2026-01-31T09:30:00Z', input)
    return value
  },
  fromColumns: readFirstCell,
  toCell: (value) => value,
}
