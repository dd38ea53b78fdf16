import type { CompiledQuery } from '#shared/core/records/query/query.ts'
import { tableOf } from '#shared/core/records/store.ts'
import { sqlTypeOf } from '#shared/core/types/field-kinds/column-types.ts'
import { fieldKinds } from '#shared/core/types/field-kinds/field-kinds.ts'
import type { Field } from '#shared/core/types/fields/field.ts'
import type { RecordType } from '#shared/core/types/record-type.ts'
import { builder, type Knex } from '#shared/platform/db/statements/builder.ts'
import {
  bigint,
  boolean,
  type Columns,
  instants,
  intervals,
  numeric,
  type Params,
  type SqlType,
  text,
} from '#shared/platform/db/statements/sql-types.ts'
import { prepareStatement, slot } from '#shared/platform/db/statements/statement.ts'
import type { ZoneOffsets } from '#shared/platform/kernel/time/zone-offsets.ts'

/** Names of parameters with the clock changes of a time zone and its offsets (`ZoneOffsets`). */
interface ZoneSlots {
  readonly starts: string
  readonly offsets: string
}

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

/** The day or month of a date, or of an instant by the offsets of a time zone. */
export function spanGroup({ type, column }: Field, span: 'day' | 'month'): GroupValue {
  const pattern = span === 'month' ? 'YYYY-MM' : 'YYYY-MM-DD'
  if (type === 'date') return { type: text, hasZone: false, toSql: () => builder.raw(`to_char(??, '${pattern}')`, [column]) }
  // A binary search. The database's own zone data may be of another release than the process's.
  const sql = `to_char((?? at time zone 'UTC') + (?::interval[])[width_bucket(??, ?::timestamptz[]) + 1], '${pattern}')`
  const toSql = ({ starts, offsets }: ZoneSlots) => builder.raw(sql, [column, slot(offsets), column, slot(starts)])
  return { type: text, hasZone: true, toSql }
}

/** Maximum groups in one answer. */
export const maxGroups = 10_000

/**
 * One row per group, and another row per group for each currency of each currency field. A row has the count of its records and the
 * grouping values; then, for each field, its sum, the count of its values, its currency code, and whether the row is limited to that code.
 */
export function sumsOf(type: RecordType, keys: readonly GroupValue[], fields: readonly Field[], query: CompiledQuery) {
  const groups = keys.map((_, index) => `g${index}`)
  const codes = fields.map(({ codeColumn }, index) => (codeColumn === null ? null : `c${index}`))
  const picked = [
    ...keys.map(({ toSql }, index) => builder.raw(`? as g${index}`, [toSql(zoneSlots(index))])),
    ...fields.map(({ column }, index) => builder.raw(`?? as a${index}`, [column])),
    ...fields.flatMap(({ codeColumn }, index) => (codeColumn === null ? [] : [builder.raw(`?? as c${index}`, [codeColumn])])),
  ]
  const sums = fields.map((_, index) => {
    const code = codes[index]
    const isOfCode = code ? `grouping(${code}) = 0` : 'false'
    return `sum(a${index}) as sum${index}, count(a${index}) as count${index}, ${code ?? 'null::text'} as code${index}, ${isOfCode} as of_code${index}`
  })
  const sets = [groups, ...codes.flatMap((code) => (code === null ? [] : [[...groups, code]]))].map((set) => `(${set.join(', ')})`)
  const orders = [...groups, ...codes.filter((code) => code !== null), 'count(*)']
  const built = builder.raw(
    `select ${['count(*)', ...groups, ...sums].join(', ')} from (select ${picked.map(() => '?').join(', ')} from ? where ?) as picked
     group by grouping sets (${sets.join(', ')}) having count(*) > 0
     order by ${orders.join(', ')} limit ${(maxGroups + 1) * (1 + codes.length)}`,
    [...picked, tableOf(type), query.whereSql() ?? builder.raw('true')],
  )
  return prepareStatement(built, { params: sumParams(keys, query), columns: sumColumns(keys, fields) })
}

const zoneSlots = (index: number): ZoneSlots => ({ starts: `zone ${index} starts`, offsets: `zone ${index} offsets` })

/** The values of the parameters that hold the offsets of a grouping value's time zone. */
export const zoneValues = (index: number, { starts, offsets }: ZoneOffsets): Record<string, unknown> => ({
  [zoneSlots(index).starts]: starts,
  [zoneSlots(index).offsets]: offsets,
})

const sumParams = (keys: readonly GroupValue[], query: CompiledQuery): Params => ({
  ...query.params(),
  ...Object.assign({}, ...keys.map(({ hasZone }, index) => (hasZone ? zoneParams(zoneSlots(index)) : {}))),
})

const zoneParams = ({ starts, offsets }: ZoneSlots): Params => ({ [starts]: instants, [offsets]: intervals })

function sumColumns(keys: readonly GroupValue[], fields: readonly Field[]) {
  const groups: Columns = Object.fromEntries(keys.map(({ type }, index) => [`g${index}`, type]))
  const sums: Columns[] = fields.map((_, index) => ({
    [`sum${index}`]: numeric,
    [`count${index}`]: bigint.notNull,
    [`code${index}`]: text,
    [`of_code${index}`]: boolean.notNull,
  }))
  return { count: bigint.notNull, ...groups, ...(Object.assign({}, ...sums) as Columns) }
}
