import { type GroupValue, valuesOfZone, type ZoneSlots, zoneParamsOf } from '#shared/core/records/aggregate/group-values-store.ts'
import type { CompiledQuery } from '#shared/core/records/query/query.ts'
import type { Field } from '#shared/core/types/fields/field.ts'
import { builder } from '#shared/platform/db/statements/builder.ts'
import { bigint, boolean, type Columns, numeric, type Params, text } from '#shared/platform/db/statements/sql-types.ts'
import { prepareStatement } from '#shared/platform/db/statements/statement.ts'
import type { ZoneOffsets } from '#shared/platform/kernel/time/zone-offsets.ts'

/** Maximum groups in one answer. */
export const maxGroups = 10_000

/**
 * One row per group, and another row per group for each currency of each currency field. A row has the count of its records and the
 * grouping values; then, for each field, its sum, the count of its values, its currency code, and whether the row is limited to that code.
 */
export function sumsOf(keys: readonly GroupValue[], fields: readonly Field[], query: CompiledQuery) {
  const groups = keys.map((_, index) => `g${index}`)
  const codes = fields.map(({ codeColumn }, index) => (codeColumn === null ? null : `c${index}`))
  const picked = [
    ...keys.map(({ toSql }, index) => builder.raw(`? as g${index}`, [toSql(zoneSlotsAt(index))])),
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
    [...picked, query.fromSql(), query.whereSql() ?? builder.raw('true')],
  )
  return prepareStatement(built, { params: sumParams(keys, query), columns: sumColumns(keys, fields) })
}

const zoneSlotsAt = (index: number): ZoneSlots => ({ starts: `zone ${index} starts`, offsets: `zone ${index} offsets` })

/** The values of the parameters that hold the offsets of a grouping value's time zone. */
export const zoneValues = (index: number, zone: ZoneOffsets): Record<string, unknown> => valuesOfZone(zoneSlotsAt(index), zone)

const sumParams = (keys: readonly GroupValue[], query: CompiledQuery): Params => ({
  ...query.params(),
  ...Object.assign({}, ...keys.map(({ hasZone }, index) => (hasZone ? zoneParamsOf(zoneSlotsAt(index)) : {}))),
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
