import { builder, type Knex } from '#shared/db/builder.ts'
import { foundSql, newsSql } from '#shared/db/guard.ts'
import { prepare, type Statement, slot } from '#shared/db/statement.ts'
import { dispatch, isDispatched } from '#shared/events/statements.ts'
import { allColumns, columnsOf } from '#shared/records/record.ts'
import type { Field } from '#shared/types/fields/field.ts'
import { fieldKinds } from '#shared/types/fields/kinds.ts'
import type { RecordType } from '#shared/types/record-type.ts'

/** Fills a prepared statement's slots. */
export type Fill = (slots?: Readonly<Record<string, unknown>>) => Statement

/** Statements of a type, built once per shape and kept as long as its picture. */
const kept = new WeakMap<object, Map<string, Fill>>()

/** Shapes that are kept of a picture, some more than its routes have: callers think of searches without end. */
export const maxShapes = 200

/** The statement of a shape: what `make` builds, the first time, for this picture (a type's, or one access's to it). */
export function shaped(picture: object, shape: string, make: () => Knex.QueryBuilder | Knex.Raw): Fill {
  const shapes = kept.get(picture) ?? new Map<string, Fill>()
  kept.set(picture, shapes)
  const known = shapes.get(shape)
  if (known) return known
  const fill = prepare(make())
  const [oldest] = shapes.size < maxShapes ? [] : shapes.keys()
  if (oldest !== undefined) shapes.delete(oldest)
  shapes.set(shape, fill)
  return fill
}

/** The type's table, for knex. */
export const tableOf = ({ schema, key }: RecordType): Knex.Raw => builder.raw('??.??', [schema, key])

/** One record by its id; with `lock` it stays as it is until the transaction ends. */
export const findById = (type: RecordType, { lock }: { lock: boolean }): Fill =>
  shaped(type, lock ? 'lock' : 'find', () => {
    const query = builder
      .select(allColumns(type))
      .from(tableOf(type))
      .where('id', slot('id') as never)
    return lock ? query.forUpdate() : query
  })

/** Columns of an audit entry that a change fills. */
export const auditColumns = 'workspace_id, actor_id, actor_type, action, object_type, record_id, before, after, text_length, request_id'

const audited = (action: string) =>
  builder.raw(
    `insert into audit_entries (${auditColumns})
     select ?::uuid, ?::uuid, ?, '${action}', ?, id, ?::jsonb, ?::jsonb, ?::integer, ? from changed
     returning id, record_id`,
    ['workspaceId', 'actorId', 'actorType', 'objectType', 'before', 'after', 'textLength', 'requestId'].map((name) => slot(name) as never),
  )

/** Moves the type's count of records; each connection has a share of its own, so that creations seldom wait for each other. */
export const counted = (sign: 1 | -1) =>
  builder.raw(
    `insert into record_counts as count (workspace_id, type_id, share, records)
     select ?::uuid, ?::uuid, pg_backend_pid() % 32, ${sign} * count(*) from changed having count(*) > 0
     on conflict (workspace_id, type_id, share) do update set records = count.records + excluded.records`,
    [slot('workspaceId') as never, slot('typeId') as never],
  )

/** The parameter of a column, cast to its type, so that the driver's text needs no guessing. */
const parameter = (field: Field, index: number): Knex.Raw =>
  builder.raw(`?::${fieldKinds[field.type].columns[index]}`, [slot(columnsOf(field)[index] ?? '') as never])

const parametersOf = (field: Field): Knex.Raw[] => columnsOf(field).map((_, index) => parameter(field, index))

/**
 * Creates a record: the row, its audit entry, the count and the dispatch to those who listen, in one statement. The id is a UUID of
 * version 7 and gives created_at, so that the order of ids is the order of creation. Fields that are not named stay empty. It is guarded:
 * always one row comes back, without an id when it wrote nothing.
 */
export const insertRecord = (type: RecordType, fields: readonly Field[]): Fill =>
  shaped(type, `insert ${fields.map(({ column }) => column).join(' ')}`, () => {
    const columns = fields.flatMap(columnsOf)
    const parameters = fields.flatMap(parametersOf)
    return builder.raw(
      `with news as materialized (${newsSql()}),
       fresh as (select uuidv7() as id where not exists (select from news where scope = any(?::text[]))),
       changed as (
         insert into ? (id, created_by, created_at, updated_at, ??${', ??'.repeat(columns.length)})
         select id, ?::uuid, uuid_extract_timestamp(id), uuid_extract_timestamp(id), null::boolean${', ?'.repeat(parameters.length)} from fresh
         returning id, created_by, created_at, updated_at
       ),
       audited as (?),
       counted as (?),
       dispatched as (?)
       select id, created_at, ${isDispatched}, ${foundSql} from (select) as always left join changed on true`,
      [
        slot('horizon'),
        slot('seen'),
        slot('scopes'),
        tableOf(type),
        type.editionColumn,
        ...columns,
        slot('createdBy'),
        ...parameters,
        audited('record.created'),
        counted(1),
        dispatch('created'),
      ] as never,
    )
  })

/** The time of a change: later than the one before, also of a change in the same transaction or in one that began earlier. */
export const changedAt = (before: string): string => `greatest(now(), ${before} + interval '1 microsecond')`

/** Changes the named fields of a record that the transaction has locked, with its audit entry and dispatch. */
export const updateRecord = (type: RecordType, fields: readonly Field[]): Fill =>
  shaped(type, `update ${fields.map(({ column }) => column).join(' ')}`, () => {
    const sets = fields.flatMap((field) =>
      columnsOf(field).map((column, index) => builder.raw('?? = ?', [column, parameter(field, index)])),
    )
    return builder.raw(
      `with changed as (
         update ? set updated_at = ${changedAt('updated_at')}, ?? = null${', ?'.repeat(sets.length)} where id = ?
         returning id, created_by, created_at, updated_at
       ),
       audited as (?),
       dispatched as (?)
       select ${isDispatched}`,
      [tableOf(type), type.editionColumn, ...sets, slot('id'), audited('record.updated'), dispatch('updated')] as never,
    )
  })

/** Deletes a record that the transaction has locked and counts it off, with its audit entry and dispatch. */
export const deleteRecord = (type: RecordType): Fill =>
  shaped(type, 'delete', () =>
    builder.raw(
      `with changed as (delete from ? where id = ? returning id, created_by, created_at, updated_at), counted as (?), audited as (?), dispatched as (?) select ${isDispatched}`,
      [tableOf(type), slot('id'), counted(-1), audited('record.deleted'), dispatch('deleted')] as never,
    ),
  )
