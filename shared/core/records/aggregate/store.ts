import { type ZoneSlots, zoneParamsOf } from '#shared/core/records/aggregate/group-values-store.ts'
import type { Group, Metric } from '#shared/core/records/aggregate/read-request.ts'
import type { CompiledQuery } from '#shared/core/records/query/query.ts'
import { sqlTypeOf } from '#shared/core/types/field-kinds/column-types.ts'
import { fieldKinds } from '#shared/core/types/field-kinds/field-kinds.ts'
import type { Field } from '#shared/core/types/fields/field.ts'
import { builder } from '#shared/platform/db/statements/builder.ts'
import { bigint, type Columns, numeric, type Params, type SqlType, text } from '#shared/platform/db/statements/sql-types.ts'
import { prepareStatement, slot } from '#shared/platform/db/statements/statement.ts'

/** The parameters of the time zone, which all groups share. */
export const zoneSlots: ZoneSlots = { starts: 'zone starts', offsets: 'zone offsets' }

/** The order of groups: by one of them, or by a metric. */
export interface AggregateOrder {
  readonly by: { readonly group: number } | { readonly metric: number } | null
  readonly dir: 'asc' | 'desc'
}

/** What an aggregate selects. */
export interface Aggregate {
  readonly groups: readonly Group[]
  readonly metrics: readonly Metric[]
  readonly order: AggregateOrder
}

/**
 * The groups of a query in their order, `limit` of them, with the number of all. A row has the position of its group, the number of groups,
 * the grouping values, the code of each currency field and the metrics. A group has one row without codes, and another one for each currency
 * of each currency field, in which only the metrics of that field count.
 */
export function aggregateOf({ groups, metrics, order }: Aggregate, query: CompiledQuery) {
  const fields = fieldsOf(metrics)
  const codes = codedFields(metrics).map((field) => `c${fields.indexOf(field)}`)
  const keys = groups.map((_, index) => `g${index}`)
  const orders = groups.map(({ field }, index) => (field?.type === 'number' ? `g${index}::numeric` : `g${index}`))
  const picked = [
    ...groups.map(({ value }, index) => builder.raw(`? as g${index}`, [value.toSql(zoneSlots)])),
    ...fields.map(({ column }, index) => builder.raw(`?? as a${index}`, [column])),
    ...fields.flatMap(({ codeColumn }, index) => (codeColumn === null ? [] : [builder.raw(`?? as c${index}`, [codeColumn])])),
  ]
  const sets = [keys, ...codes.map((code) => [...keys, code])].map((set) => `(${set.join(', ')})`)
  const sorted = sortSql(order, orders, metrics, fields)
  const grouped = [
    ...keys,
    ...codes,
    codes.length === 0 ? '0 as level' : `grouping(${codes.join(', ')}) as level`,
    ...metrics.map((metric, index) => `${metricSql(metric, fields)} as m${index}`),
    `${keys.length === 0 ? "''" : `jsonb_build_array(${keys.join(', ')})::text`} as k`,
  ]
  const sortColumn = builder.raw(`${sorted.sql} as s`, sorted.bindings)
  // In the row of a whole group every code is left out of its grouping set.
  const wholeLevel = 2 ** codes.length - 1
  const selected = [
    // The values of a group may be long, so its other rows leave them out.
    ...keys.map((key) =>
      codes.length === 0 ? `grouped.${key}` : `case when grouped.level = ${wholeLevel} then grouped.${key} end as ${key}`,
    ),
    ...codes.map((code) => `grouped.${code}`),
    ...metrics.map((_, index) => `grouped.m${index}`),
  ]
  const ties = orders.map((one) => `, ${one} ${order.by === null ? order.dir : 'asc'} nulls last`).join('')
  const built = builder.raw(
    `with grouped as (
       select ${grouped.join(', ')}, ? from (select ${picked.length === 0 ? '' : picked.map(() => '?').join(', ')} from ? where ?) as picked
       group by grouping sets (${sets.join(', ')})
     ),
     page as (
       select k, row_number() over (order by s ${order.dir} nulls last${ties}) as position, count(*) over () as total
       from grouped where level = ${wholeLevel} order by position limit ?
     )
     select page.position, page.total, ${selected.join(', ')}
     from page join grouped on grouped.k = page.k order by page.position, ${['grouped.level desc', ...codes.map((code) => `grouped.${code}`)].join(', ')}`,
    [sortColumn, ...picked, query.fromSql(), query.whereSql() ?? builder.raw('true'), slot('limit')],
  )
  const params: Params = {
    ...query.params(),
    ...(groups.some(({ value }) => value.hasZone) ? zoneParamsOf(zoneSlots) : {}),
    ...(sorted.bindings.length > 0 ? { currency: text } : {}),
    limit: bigint,
  }
  const columns: Columns = {
    position: bigint.notNull,
    total: bigint.notNull,
    ...Object.fromEntries(groups.map(({ value }, index) => [`g${index}`, value.type])),
    ...Object.fromEntries(codes.map((code) => [code, text])),
    ...Object.fromEntries(metrics.map((metric, index) => [`m${index}`, typeOf(metric)])),
  }
  return prepareStatement(built, { params, columns })
}

/** The fields of metrics, each once. */
const fieldsOf = (metrics: readonly Metric[]): readonly Field[] => [...new Set(metrics.flatMap(({ field }) => field ?? []))]

/** The currency fields whose metrics are by currency. */
export const codedFields = (metrics: readonly Metric[]): readonly Field[] => fieldsOf(metrics.filter(isByCurrency))

/** Whether a metric has a value for each currency. */
export const isByCurrency = ({ field, fn }: Metric): boolean => field?.type === 'currency' && fn !== 'distinct'

/** SQL of a metric over the records of a group, or over those of `filter`. */
function metricSql({ fn, field }: Metric, fields: readonly Field[], filter = ''): string {
  if (!field) return 'count(*)'
  const [column, code] = [`a${fields.indexOf(field)}`, `c${fields.indexOf(field)}`]
  if (fn === 'distinct' && field.codeColumn !== null) return `count(distinct (${column}, ${code})) filter (where ${column} is not null)`
  if (fn === 'distinct') return `count(distinct ${column})`
  // The quotient has at least 30 decimal places before it is rounded to 12, half away from zero.
  if (fn === 'avg') return `round(sum(${column})${filter} * 1.${'0'.repeat(30)} / count(${column})${filter}, 12)`
  return `${fn}(${column})${filter}`
}

/** SQL by which groups are sorted. A metric by currency is sorted by the currency of the slot `currency`. */
function sortSql({ by }: AggregateOrder, orders: readonly string[], metrics: readonly Metric[], fields: readonly Field[]) {
  if (by === null) return { sql: 'null::text', bindings: [] }
  if ('group' in by) return { sql: orders[by.group] ?? '', bindings: [] }
  const metric = metrics[by.metric] as Metric
  if (!isByCurrency(metric)) return { sql: metricSql(metric, fields), bindings: [] }
  const sql = metricSql(metric, fields, ` filter (where c${fields.indexOf(metric.field as Field)} = ?)`)
  return { sql, bindings: Array.from(sql.matchAll(/\?/g), () => slot('currency')) }
}

function typeOf({ fn, field }: Metric): SqlType<unknown, unknown> {
  if (!field || fn === 'distinct') return bigint.notNull
  if (fn === 'avg' || fn === 'sum') return numeric
  return sqlTypeOf(fieldKinds[field.type].columns[0])
}
