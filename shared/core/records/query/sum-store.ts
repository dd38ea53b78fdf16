import { tableOf } from '#shared/core/records/store.ts'
import type { Field } from '#shared/core/types/fields/field.ts'
import type { RecordType } from '#shared/core/types/record-type.ts'
import { builder, type Knex } from '#shared/platform/db/statements/builder.ts'
import { slot } from '#shared/platform/db/statements/statement.ts'

/** SQL of a grouping value; `zone` is the name of the slot that holds the time zone. */
export type GroupValue = (zone: string) => Knex.Raw

/** A field's value. A number becomes text without trailing zeros. */
export const valueGroup = ({ type, column }: Field): Knex.Raw => builder.raw(type === 'number' ? 'trim_scale(??)::text' : '??', [column])

/** The day or month of a date, or of an instant in the time zone. */
export function spanGroup({ type, column }: Field, span: 'day' | 'month', zone: string): Knex.Raw {
  const pattern = span === 'month' ? 'YYYY-MM' : 'YYYY-MM-DD'
  return type === 'date'
    ? builder.raw(`to_char(??, '${pattern}')`, [column])
    : builder.raw(`to_char(?? at time zone ?::text, '${pattern}')`, [column, slot(zone) as never])
}

/** Maximum groups in one answer. */
export const maxGroups = 10_000

/**
 * One row per group, and another row per group for each currency of each currency field. A row has the count of its records and the
 * grouping values; then, for each field, its sum, the count of its values, its currency code, and whether the row is limited to that code.
 */
export function sumsOf(type: RecordType, keys: readonly GroupValue[], fields: readonly Field[], where: Knex.Raw | undefined): Knex.Raw {
  const groups = keys.map((_, index) => `g${index}`)
  const codes = fields.map(({ codeColumn }, index) => (codeColumn === null ? null : `c${index}`))
  const picked = [
    ...keys.map((value, index) => builder.raw(`? as g${index}`, [value(`zone ${index}`)])),
    ...fields.map(({ column }, index) => builder.raw(`?? as a${index}`, [column])),
    ...fields.flatMap(({ codeColumn }, index) => (codeColumn === null ? [] : [builder.raw(`?? as c${index}`, [codeColumn])])),
  ]
  const sums = fields.map((_, index) => {
    const code = codes[index]
    return `sum(a${index}), count(a${index}), ${code ?? 'null::text'}, ${code ? `grouping(${code}) = 0` : 'false'}`
  })
  const sets = [groups, ...codes.flatMap((code) => (code === null ? [] : [[...groups, code]]))].map((set) => `(${set.join(', ')})`)
  const orders = [...groups, ...codes.filter((code) => code !== null), 'count(*)']
  return builder.raw(
    `select ${['count(*)', ...groups, ...sums].join(', ')} from (select ${picked.map(() => '?').join(', ')} from ? where ?) as picked
     group by grouping sets (${sets.join(', ')}) having count(*) > 0
     order by ${orders.join(', ')} limit ${(maxGroups + 1) * (1 + codes.length)}`,
    [...picked, tableOf(type), where ?? builder.raw('true')],
  )
}
