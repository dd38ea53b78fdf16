import type { CompiledQuery } from '#shared/core/records/query/query.ts'
import { tableOf } from '#shared/core/records/store.ts'
import { sqlTypeOf } from '#shared/core/types/field-kinds/column-types.ts'
import { fieldKinds } from '#shared/core/types/field-kinds/field-kinds.ts'
import type { Field } from '#shared/core/types/fields/field.ts'
import type { RecordType } from '#shared/core/types/record-type.ts'
import { builder, type Knex } from '#shared/platform/db/statements/builder.ts'
import { bigint, boolean, type Columns, numeric, type Params, type SqlType, text } from '#shared/platform/db/statements/sql-types.ts'
import { prepareStatement, slot } from '#shared/platform/db/statements/statement.ts'

/** A grouping value. */
export interface GroupValue {
  readonly type: SqlType<unknown, unknown>
  /** Whether the SQL has a slot for a time zone. */
  readonly hasZone: boolean
  /** SQL of the value; `zone` is the name of the slot that holds the time zone. */
  readonly toSql: (zone: string) => Knex.Raw
}

/** A field's value. A number becomes text without trailing zeros. */
export function valueGroup({ type, column }: Field): GroupValue {
  if (type === 'number') return { type: text, hasZone: false, toSql: () => builder.raw('trim_scale(??)::text', [column]) }
  return { type: sqlTypeOf(fieldKinds[type].columns[0]), hasZone: false, toSql: () => builder.raw('??', [column]) }
}

/** The day or month of a date, or of an instant in the time zone. */
export function spanGroup({ type, column }: Field, span: 'day' | 'month'): GroupValue {
  const pattern = span === 'month' ? 'YYYY-MM' : 'YYYY-MM-DD'
  if (type === 'date') return { type: text, hasZone: false, toSql: () => builder.raw(`to_char(??, '${pattern}')`, [column]) }
  const sql = `to_char(?? at time zone ?::text, '${pattern}')`
  return { type: text, hasZone: true, toSql: (zone) => builder.raw(sql, [column, slot(zone) as never]) }
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
    ...keys.map(({ toSql }, index) => builder.raw(`? as g${index}`, [toSql(zoneParam(index))])),
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

/** The name of the parameter that holds the time zone of a grouping value. */
export const zoneParam = (index: number): string => `zone ${index}`

const sumParams = (keys: readonly GroupValue[], query: CompiledQuery): Params => ({
  ...query.params(),
  ...Object.fromEntries(keys.flatMap(({ hasZone }, index) => (hasZone ? [[zoneParam(index), text]] : []))),
})

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
