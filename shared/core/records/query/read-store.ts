import type { RecordAccess } from '#shared/core/policy/fields/record-access.ts'
import { shownColumns } from '#shared/core/records/query/shown-columns-store.ts'
import { recordColumnNames, recordColumns, valueColumns, valueListParams, valueParams } from '#shared/core/records/record-columns.ts'
import { cachedStatement, tableOf } from '#shared/core/records/store.ts'
import { fieldKinds } from '#shared/core/types/field-kinds/field-kinds.ts'
import type { Field } from '#shared/core/types/fields/field.ts'
import type { RecordType } from '#shared/core/types/record-type.ts'
import { uniqueKeySql, valueColumnsOf } from '#shared/core/types/tables/table-names.ts'
import { builder } from '#shared/platform/db/statements/builder.ts'
import { bigint, type Columns, type Params, uuid, uuids } from '#shared/platform/db/statements/sql-types.ts'
import { prepareStatement, slot, statement } from '#shared/platform/db/statements/statement.ts'

/** The records of these ids, in the order of the ids. `lock` locks them until the transaction ends. */
export const recordsByIds = (type: RecordType, lock: boolean) =>
  cachedStatement(type, `by ids ${lock}`, () =>
    prepareStatement(
      builder.raw(
        `select ? from ? as record join unnest(?::uuid[]) with ordinality as wanted (id, position) using (id)
         order by position ${lock ? 'for update of record' : ''}`,
        [quotedColumns(recordColumnNames(type)), tableOf(type), slot('ids')],
      ),
      { params: { ids: uuids }, columns: recordColumns(type) },
    ),
  )

/** The id and the value of one field, for each record of these ids, in no order. */
export const valuesByIds = (type: RecordType, field: Field) =>
  cachedStatement(type, `values ${field.column} by id`, () =>
    prepareStatement(
      builder.raw('select id, ? from ? where id = any(?::uuid[])', [quotedColumns(valueColumnsOf(field)), tableOf(type), slot('ids')]),
      { params: { ids: uuids }, columns: { id: uuid.notNull, ...valueColumns([field]) } },
    ),
  )

const quotedColumns = (columns: readonly string[]) => builder.raw(columns.map(() => '??').join(', '), [...columns])

/** The id of the record that holds a value of a unique field. The parameters are named like the field's columns. */
export const recordByUniqueValue = (type: RecordType, field: Field) =>
  cachedStatement(type, `unique ${field.column}`, () => {
    const query = builder.select('id').from(tableOf(type))
    const key = uniqueKeySql(field.type)
    for (const [index, column] of valueColumnsOf(field).entries()) {
      const value = builder.raw(`?::${fieldKinds[field.type].columns[index]}`, [slot(column)])
      query.whereRaw(`${key} = ${key.replace('??', '?')} and ?? = ?`, [column, value, column, value])
    }
    return prepareStatement(query, { params: valueParams([field]), columns: { id: uuid.notNull } })
  })

/** The ids of the records that hold values of a unique field, none of them blank. The parameters are lists named like the field's columns. */
export const recordIdsByUniqueValues = (type: RecordType, field: Field) =>
  cachedStatement(type, `unique many ${field.column}`, () => {
    const columns = valueColumnsOf(field)
    const kinds = fieldKinds[field.type].columns
    const lists = columns.map((column, index) => builder.raw(`?::${kinds[index]}[]`, [slot(column)]))
    const key = uniqueKeySql(field.type)
    // The second comparison is for keys that are digests. The last condition is that of the unique index, which is partial.
    const conditions = columns.map((column, index) =>
      builder.raw(`${key} = ${key} and ?? = ??${kinds[index] === 'text' ? " and ?? <> ''" : ''}`, [
        ...[`record.${column}`, `wanted.${column}`, `record.${column}`, `wanted.${column}`],
        ...(kinds[index] === 'text' ? [`record.${column}`] : []),
      ]),
    )
    return prepareStatement(
      builder.raw(
        `select record.id from ? as record join unnest(${lists.map(() => '?').join(', ')}) as wanted (${columns.map(() => '??').join(', ')})
         on ${conditions.map(() => '?').join(' and ')}`,
        [tableOf(type), ...lists, ...columns, ...conditions],
      ),
      { params: valueListParams(field), columns: { id: uuid.notNull } },
    )
  })

/** Bytes of text after which a page ends before its limit, so that no request fills the memory; `next_cursor` continues after it. */
const maxPageBytes = 8_000_000

/**
 * A page of records, newest first. Its parameters are `limit`; if `paged`, `after`, the last id of the page before; if `reference` is given,
 * `refId`, the record that it must name. For a type with long records the columns are those of `shownColumns`, and then the number of records
 * before the page was cut by size.
 */
export function listPage(type: RecordType, access: RecordAccess, reference: Field | undefined, paged: boolean) {
  return cachedStatement(access, `list ${reference?.column ?? ''} ${paged}`, () => {
    const { query, params } = listQuery(type, access, reference, paged)
    const columns: Columns = recordColumns(type)
    if (!type.longRecords) {
      query.select(recordColumnNames(type))
      return prepareStatement(builder.raw('? limit ?', [query, slot('limit')]), { params, columns })
    }
    const { page, list, columns: shown, textBytes } = shownColumns(type, access)
    const sized = builder.raw(
      `select ?, found from (
         select page.*, count(*) over () as found, sum(?) over (order by id desc) - (?) as before from (? limit ?) as page
       ) as sized where before < ${maxPageBytes} order by id desc`,
      [list, textBytes, textBytes, query.select(page), slot('limit')],
    )
    return prepareStatement(sized, { params, columns: { ...shown, found: bigint.notNull } })
  })
}

/** The bytes of the text of the page that `listPage` reads, at most `maxPageBytes`, without reading the text. Same parameters. */
export function listPageBytes(type: RecordType, access: RecordAccess, reference: Field | undefined, paged: boolean) {
  return cachedStatement(access, `list bytes ${reference?.column ?? ''} ${paged}`, () => {
    const { query, params } = listQuery(type, access, reference, paged)
    const { page, textBytes } = shownColumns(type, access)
    const sum = `select least(coalesce(sum(?), 0), ${maxPageBytes})::bigint as bytes from (? limit ?) as page`
    return prepareStatement(builder.raw(sum, [textBytes, query.select(page), slot('limit')]), {
      params,
      columns: { bytes: bigint.notNull },
    })
  })
}

/** The records of a page without its columns and limit. */
function listQuery(type: RecordType, access: RecordAccess, reference: Field | undefined, paged: boolean) {
  const query = builder.from(tableOf(type)).orderBy('id', 'desc')
  const params: Params & { readonly limit: typeof bigint } = {
    limit: bigint,
    ...(paged && { after: uuid }),
    ...(reference && { refId: uuid }),
  }
  const where = access.where()
  if (where) query.where(where)
  if (paged) query.where('id', '<', slot('after'))
  if (reference) {
    const holds = reference.type === 'ref' ? '?? = ?::uuid' : '?? @> array[?::uuid]'
    query.whereRaw(holds, [reference.column, slot('refId')])
  }
  return { query, params }
}

/** Marks a type as one with long records. */
export const markLongRecords = statement(
  'records.markLongRecords',
  'update record_types set long_records = true where workspace_id = $workspaceId and id = $typeId and not long_records',
  { params: { workspaceId: uuid, typeId: uuid } },
)
