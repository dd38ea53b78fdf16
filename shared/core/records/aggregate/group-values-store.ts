import { sqlTypeOf } from '#shared/core/types/field-kinds/column-types.ts'
import { fieldKinds } from '#shared/core/types/field-kinds/field-kinds.ts'
import type { Field } from '#shared/core/types/fields/field.ts'
import { builder, type Knex } from '#shared/platform/db/statements/builder.ts'
import { instants, intervals, type Params, type SqlType, text } from '#shared/platform/db/statements/sql-types.ts'
import { slot } from '#shared/platform/db/statements/statement.ts'
import type { ZoneOffsets } from '#shared/platform/kernel/time/zone-offsets.ts'

/** Names of parameters with the clock changes of a time zone and its offsets (`ZoneOffsets`). */
export interface ZoneSlots {
  readonly starts: string
  readonly offsets: string
}

/** The declaration of these parameters. */
export const zoneParamsOf = ({ starts, offsets }: ZoneSlots): Params => ({ [starts]: instants, [offsets]: intervals })

/** The values of these parameters. */
export const valuesOfZone = (slots: ZoneSlots, { starts, offsets }: ZoneOffsets): Record<string, unknown> => ({
  [slots.starts]: starts,
  [slots.offsets]: offsets,
})

/** A grouping value. */
export interface GroupValue {
  readonly type: SqlType<unknown, unknown>
  /** Whether the SQL has slots for the offsets of a time zone. */
  readonly hasZone: boolean
  /** SQL of the value; `slots` are the names of the slots that hold the offsets. */
  readonly toSql: (slots: ZoneSlots) => Knex.Raw
}

/** A field's value. A number becomes text without trailing zeros. */
export function valueGroup({ type, column }: Field): GroupValue {
  if (type === 'number') return { type: text, hasZone: false, toSql: () => builder.raw('trim_scale(??)::text', [column]) }
  return { type: sqlTypeOf(fieldKinds[type].columns[0]), hasZone: false, toSql: () => builder.raw('??', [column]) }
}

/** The texts of the parts of a date, as `to_char` writes them. Weeks are those of ISO 8601, which begin on Monday. */
const patterns = {
  day: 'YYYY-MM-DD',
  week: 'IYYY-"W"IW',
  month: 'YYYY-MM',
  quarter: 'YYYY-"Q"Q',
  year: 'YYYY',
} as const
export type DatePart = keyof typeof patterns
export const dateParts = Object.keys(patterns) as readonly DatePart[]

/** A part of a date, or of an instant by the offsets of a time zone. */
export function spanGroup({ type, column }: Pick<Field, 'type' | 'column'>, part: DatePart): GroupValue {
  const pattern = patterns[part]
  if (type === 'date') return { type: text, hasZone: false, toSql: () => builder.raw(`to_char(??, '${pattern}')`, [column]) }
  // A binary search. The database's own zone data may be of another release than the process's.
  const local = `(?? at time zone 'UTC') + (?::interval[])[width_bucket(??, ?::timestamptz[]) + 1]`
  // A zone can move an instant out of the years that have four digits. `greatest` and `least` ignore null.
  const inYears = `greatest(timestamp '0001-01-01', least(timestamp '9999-12-31', ${local}))`
  const sql = `case when ?? is not null then to_char(${inYears}, '${pattern}') end`
  const toSql = ({ starts, offsets }: ZoneSlots) => builder.raw(sql, [column, column, slot(offsets), column, slot(starts)])
  return { type: text, hasZone: true, toSql }
}
