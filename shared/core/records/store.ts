import { memoizeByObject } from '#shared/core/policy/memoize.ts'
import { recordColumnNames, recordColumns, valueParams } from '#shared/core/records/record-columns.ts'
import { fieldKinds } from '#shared/core/types/field-kinds/field-kinds.ts'
import type { Field } from '#shared/core/types/fields/field.ts'
import type { RecordType } from '#shared/core/types/record-type.ts'
import { valueColumnsOf } from '#shared/core/types/tables/table-names.ts'
import { builder, type Knex } from '#shared/platform/db/statements/builder.ts'
import {
  bigint,
  booleans,
  type Columns,
  instant,
  integer,
  jsonb,
  type Params,
  type ParamsOf,
  text,
  uuid,
  uuids,
} from '#shared/platform/db/statements/sql-types.ts'
import { type BuiltStatement, prepareStatement, slot } from '#shared/platform/db/statements/statement.ts'
import { insertRecordEvents, recordEventParams, updateEventParams } from '#shared/platform/events/inbox-store.ts'
import type { CauseKind } from '#shared/platform/kernel/cause.ts'

/** Statements by type metadata and shape; they are released with the metadata. */
const cached = new WeakMap<object, Map<string, unknown>>()

/**
 * The statement of a shape; `make` builds it once for this metadata (of a type, or of one access to it). Only for shapes that code names, a
 * few per field: shapes that callers choose go through `cachedSearchStatement`, whose cache is bounded.
 */
export function cachedStatement<P extends Params, C extends Columns>(
  metadata: object,
  shape: string,
  make: () => BuiltStatement<P, C>,
): BuiltStatement<P, C> {
  const shapes = cached.get(metadata) ?? new Map<string, unknown>()
  cached.set(metadata, shapes)
  const known = shapes.get(shape) as BuiltStatement<P, C> | undefined
  if (known) return known
  const built = make()
  shapes.set(shape, built)
  return built
}

/** The type's table, for knex. */
export const tableOf = ({ schema, key }: RecordType): Knex.Raw => builder.raw('??.??', [schema, key])

const listedColumns = memoizeByObject((type: RecordType) => {
  const names = recordColumnNames(type)
  return builder.raw(names.map(() => '??').join(', '), [...names]).toString()
})

/** All columns of a type's rows as SQL, written out once per type: knex takes a millisecond to write out a hundred columns. */
export const columnList = (type: RecordType): Knex.Raw => builder.raw(listedColumns(type))

/** One record by its id; `lock` locks it until the transaction ends. */
export const findRecordById = (type: RecordType, { lock }: { lock: boolean }) =>
  cachedStatement(type, lock ? 'lock' : 'find', () => {
    const query = builder.select(recordColumnNames(type)).from(tableOf(type)).where('id', slot('id'))
    return prepareStatement(lock ? query.forUpdate() : query, { params: { id: uuid }, columns: recordColumns(type) })
  })

/** Locks the records of these ids, in the order of the ids, so that two concurrent calls cannot deadlock. */
export const lockRecordsByIds = (type: RecordType) =>
  cachedStatement(type, 'lock by ids', () =>
    prepareStatement(builder.raw('select id from ? where id = any(?::uuid[]) order by id for update', [tableOf(type), slot('ids')]), {
      params: { ids: uuids },
      columns: { id: uuid.notNull },
    }),
  )

/** Columns of an audit entry that a change fills. */
const auditColumns =
  'workspace_id, actor_id, actor_type, action, object_type, request_id, type_revision, cause_kind, cause_id, record_id, before, after, text_length'

/** The parameters that the entries of a statement share, in the order of `auditColumns`. */
const sharedAuditParams = {
  workspaceId: uuid,
  actorId: uuid.orNull,
  actorType: text,
  objectType: text,
  requestId: text,
  typeRevision: bigint,
  causeKind: text.as<CauseKind>(),
  causeId: uuid.orNull,
} as const

/** Parameters of the entry of one record; `before` and `after` are JSON text. */
const auditParams = { ...sharedAuditParams, before: jsonb.orNull, after: jsonb.orNull, textLength: integer } as const

/** Parameters of the SQL that `auditedRecords` makes. */
export const auditedRecordsParams = sharedAuditParams

/** Values that every statement of a change takes for the audit entry and the event. */
export type ChangeValues = ParamsOf<typeof auditParams & typeof recordEventParams>

type RecordAction = 'record.created' | 'record.updated' | 'record.deleted'

const sharedAudit = (action: RecordAction): string => `?::uuid, ?::uuid, ?, '${action}', ?, ?, ?::bigint, ?, ?::uuid`
const sharedAuditSlots = Object.keys(sharedAuditParams).map((name) => slot(name))

/** Inserts the entries of many records. `rows` is SQL for their id, `before`, `after` and the length of both, in the order of the entries. */
export const auditedRecords = (action: RecordAction, rows: string): Knex.Raw =>
  builder.raw(
    `insert into audit_entries (${auditColumns})
     select ${sharedAudit(action)}, entry.* from (${rows}) as entry
     returning id, record_id`,
    sharedAuditSlots,
  )

/** What the entry of a deletion keeps of the record besides its values: columns of the entry, and those of the record. */
const keptOfDeleted = {
  entry: ', record_created_by, record_created_at, record_updated_at',
  record: ', created_by, created_at, updated_at',
}

const audited = (action: RecordAction): Knex.Raw => {
  const kept = action === 'record.deleted' ? keptOfDeleted : { entry: '', record: '' }
  return builder.raw(
    `insert into audit_entries (${auditColumns}${kept.entry})
     select ${sharedAudit(action)}, id, ?::jsonb, ?::jsonb, ?::integer${kept.record} from changed
     returning id, record_id`,
    [...sharedAuditSlots, slot('before'), slot('after'), slot('textLength')],
  )
}

/**
 * Adds the changed records to the type's count, or subtracts them. The count is the sum of 32 rows, and a connection always changes the
 * same one, so that creations seldom wait for each other.
 */
export const countChangedRecords = (sign: 1 | -1) =>
  builder.raw(
    `insert into record_counts as count (workspace_id, type_id, share, records)
     select ?::uuid, ?::uuid, pg_backend_pid() % 32, ${sign} * count(*) from changed having count(*) > 0
     on conflict (workspace_id, type_id, share) do update set records = count.records + excluded.records`,
    [slot('workspaceId'), slot('typeId')],
  )

/** Parameters of `countChangedRecords`. */
export const countParams = { workspaceId: uuid, typeId: uuid } as const

/** The parameter of a column, cast to the column's type, so that PostgreSQL need not infer a type for the text that the driver sends. */
const parameter = (field: Field, index: number): Knex.Raw =>
  builder.raw(`?::${fieldKinds[field.type].columns[index]}`, [slot(valueColumnsOf(field)[index] ?? '')])

/**
 * Creates a record in one statement: the row, its audit entry, the type's count and its event. The id is a UUID of version 7 and gives
 * created_at, so that the order of ids is the order of creation. The statement names every column, whatever a caller sent: otherwise each
 * connection would keep a prepared statement for each choice of fields, without a bound.
 */
export const insertRecord = (type: RecordType) =>
  cachedStatement(type, 'insert', () => {
    const columns = type.fields.flatMap(valueColumnsOf)
    const parameters = type.fields.flatMap((field) => valueColumnsOf(field).map((_, index) => parameter(field, index)))
    const query = builder.raw(
      `with fresh as (select uuidv7() as id),
       changed as (
         insert into ? (id, created_by, created_at, updated_at, ??${', ??'.repeat(columns.length)})
         select id, ?::uuid, uuid_extract_timestamp(id), uuid_extract_timestamp(id), null::boolean${', ?'.repeat(parameters.length)} from fresh
         returning id, created_by, created_at, updated_at
       ),
       audited as (?),
       counted as (?),
       announced as (?)
       select id, created_at from changed`,
      [
        tableOf(type),
        type.editionColumn,
        ...columns,
        slot('createdBy'),
        ...parameters,
        audited('record.created'),
        countChangedRecords(1),
        insertRecordEvents('created'),
      ],
    )
    return prepareStatement(query, {
      params: { ...valueParams(type.fields), ...auditParams, ...countParams, ...recordEventParams, createdBy: uuid.orNull },
      columns: { id: uuid.notNull, created_at: instant.notNull },
    })
  })

/**
 * The time of a change: later than the time of the record's previous change, even if both changes are in one transaction or this
 * transaction began earlier. `next` is made by `nextInstant` and not in SQL: Citus refuses updates in which a column is passed to a
 * function that is not immutable, such as adding an interval.
 */
export const changeTimeSql = (next: string): string => `greatest(now(), ${next})`

/**
 * Changes fields of a record that the transaction has locked, with its audit entry and event. The statement names every column, as
 * `insertRecord` does. `sent` has a flag per field of the type, in their order: the columns of a field whose flag is false keep their
 * values, and a long value is then not written again.
 */
export const updateRecord = (type: RecordType) =>
  cachedStatement(type, 'update', () => {
    const sets = type.fields.flatMap((field, place) =>
      valueColumnsOf(field).map((column, index) =>
        builder.raw(`?? = case when sent.fields[${place + 1}] then ? else record.?? end`, [column, parameter(field, index), column]),
      ),
    )
    const query = builder.raw(
      `with changed as (
         update ? as record set updated_at = ${changeTimeSql('?::timestamptz')}, ?? = null${', ?'.repeat(sets.length)}
         from (select ?::boolean[] as fields) as sent where id = ?
         returning record.id, created_by, created_at, updated_at
       ),
       audited as (?),
       announced as (?)
       select from changed limit 0`,
      [
        ...[tableOf(type), slot('next'), type.editionColumn, ...sets, slot('sent'), slot('id')],
        ...[audited('record.updated'), insertRecordEvents('updated')],
      ],
    )
    return prepareStatement(query, {
      params: { ...valueParams(type.fields), ...auditParams, ...updateEventParams, id: uuid, next: instant, sent: booleans },
    })
  })

/** Deletes a record that the transaction has locked and subtracts it from the count, with its audit entry and event. */
export const deleteRecord = (type: RecordType) =>
  cachedStatement(type, 'delete', () =>
    prepareStatement(
      builder.raw(
        `with changed as (delete from ? where id = ? returning id, created_by, created_at, updated_at), counted as (?), audited as (?), announced as (?) select from changed limit 0`,
        [tableOf(type), slot('id'), countChangedRecords(-1), audited('record.deleted'), insertRecordEvents('deleted')],
      ),
      { params: { id: uuid, ...auditParams, ...countParams, ...recordEventParams } },
    ),
  )
