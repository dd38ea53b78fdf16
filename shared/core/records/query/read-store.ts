import type { RecordAccess } from '#shared/core/policy/fields/record-access.ts'
import { recordColumns, valueColumnsOf } from '#shared/core/records/record.ts'
import { cachedStatement, tableOf } from '#shared/core/records/store.ts'
import { fieldKinds } from '#shared/core/types/field-kinds/field-kinds.ts'
import type { Field } from '#shared/core/types/fields/field.ts'
import type { RecordType } from '#shared/core/types/record-type.ts'
import { uniqueKeySql } from '#shared/core/types/tables/table-names.ts'
import { builder, type Knex } from '#shared/platform/db/statements/builder.ts'
import { type StatementTemplate, slot, sql } from '#shared/platform/db/statements/statement.ts'

/** The records of the ids in slot `ids`, in the order of the ids. `lock` locks them until the transaction ends. */
export const recordsByIds = (type: RecordType, lock: boolean): StatementTemplate =>
  cachedStatement(type, `by ids ${lock}`, () =>
    builder.raw(
      `select ? from ? as record join unnest(?::uuid[]) with ordinality as wanted (id, position) using (id)
       order by position ${lock ? 'for update of record' : ''}`,
      [quotedColumns(recordColumns(type)), tableOf(type), slot('ids')] as never,
    ),
  )

/** The id and the value of one field, for each record of the ids in slot `ids`, in no order. */
export const valuesByIds = (type: RecordType, field: Field): StatementTemplate =>
  cachedStatement(type, `values ${field.column} by id`, () =>
    builder.raw('select id, ? from ? where id = any(?::uuid[])', [
      quotedColumns(valueColumnsOf(field)),
      tableOf(type),
      slot('ids'),
    ] as never),
  )

const quotedColumns = (columns: readonly string[]) => builder.raw(columns.map(() => '??').join(', '), [...columns])

/** The id of the record that holds a value of a unique field. The value goes into slots named like the field's columns. */
export const recordByUniqueValue = (type: RecordType, field: Field): StatementTemplate =>
  cachedStatement(type, `unique ${field.column}`, () => {
    const query = builder.select('id').from(tableOf(type))
    const key = uniqueKeySql(field.type)
    for (const [index, column] of valueColumnsOf(field).entries()) {
      const value = builder.raw(`?::${fieldKinds[field.type].columns[index]}`, [slot(column) as never])
      query.whereRaw(`${key} = ${key.replace('??', '?')} and ?? = ?`, [column, value, column, value])
    }
    return query
  })

/** Bytes of text after which a page ends before its limit, so that no request fills the memory; `next_cursor` continues after it. */
const maxPageBytes = 8_000_000

/**
 * A page of records, newest first. Slots: `limit`; `after`, the last id of the page before, if `paged`; `refId`, the record that
 * `reference` must name, if given. For a type with long records the last column is the number of records before the page was cut by size.
 */
export function listPage(type: RecordType, access: RecordAccess, reference: Field | undefined, paged: boolean): StatementTemplate {
  return cachedStatement(access, `list ${reference?.column ?? ''} ${paged}`, () => {
    const query = builder.select(recordColumns(type)).from(tableOf(type)).orderBy('id', 'desc')
    const where = access.where()
    if (where) query.where(where)
    if (paged) query.where('id', '<', slot('after') as never)
    if (reference) {
      const holds = reference.type === 'ref' ? '?? = ?::uuid' : '?? @> array[?::uuid]'
      query.whereRaw(holds, [reference.column, slot('refId') as never])
    }
    if (!type.longRecords) return builder.raw('? limit ?', [query, slot('limit')] as never)
    query.select({ bytes: textBytes(type) })
    const columns = recordColumns(type)
    return builder.raw(
      `select ${columns.map(() => '??').join(', ')}, found from (
         select page.*, count(*) over () as found, sum(bytes) over (order by id desc) - bytes as before from (? limit ?) as page
       ) as sized where before < ${maxPageBytes} order by id desc`,
      [...columns, query, slot('limit')] as never,
    )
  })
}

/** Marks a type as one with long records. Values: workspace, type id. */
export const markLongRecords = sql(
  'mark_long_records',
  'update record_types set long_records = true where workspace_id = $1 and id = $2 and not long_records',
)

const sizes: Readonly<Record<string, string>> = {
  // PostgreSQL stores the length of a long text apart from the text, so this does not read the text.
  text: 'coalesce(octet_length(??), 0)',
  'text[]': `coalesce(octet_length(array_to_string(??, ',')), 0)`,
  'uuid[]': 'coalesce(cardinality(??), 0) * 36',
}

/** SQL for the bytes of a row's text. */
export function textBytes({ fields }: RecordType): Knex.Raw {
  const parts = fields.flatMap(({ type, column }) => {
    const size = sizes[fieldKinds[type].columns[0]]
    return size === undefined ? [] : [builder.raw(size, [column])]
  })
  return builder.raw(['0', ...parts.map(() => '?')].join(' + '), parts)
}
