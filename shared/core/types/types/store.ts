import type { FieldRules } from '#shared/core/types/fields/field.ts'
import { declareConflicts } from '#shared/platform/db/database-errors.ts'
import {
  bigint,
  boolean,
  instant,
  integer,
  json,
  jsonb,
  type RowOf,
  selectList,
  text,
  texts,
  uuid,
} from '#shared/platform/db/statements/sql-types.ts'
import { statement } from '#shared/platform/db/statements/statement.ts'
import type { FieldType } from '#shared/platform/kernel/field-type.ts'

declareConflicts({
  record_types_key: ['KEY_TAKEN', 'key is already used by another record type'],
  // A record was being created while its type was deleted and another type got its key.
  record_counts_type: ['NOT_FOUND', 'The record type was deleted'],
})

/** The columns of a type that answers show. */
const ownColumns = {
  id: uuid.notNull,
  key: text.notNull,
  label: text.notNull,
  icon: text.notNull,
  app: text.notNull,
  /** JSON text. */
  ui: text.notNull,
  description: text.notNull,
  system: boolean.notNull,
}
const ownList = selectList(ownColumns, 'type')

const columns = { ...ownColumns, created_at: instant.notNull, record_count: bigint.notNull }
const list = `${ownList}, type.created_at,
  coalesce((
    select sum(count.records) from record_counts as count where count.workspace_id = type.workspace_id and count.type_id = type.id
  ), 0)::bigint as record_count`

/** A record type as stored, with the number of its records. */
export type StoredType = RowOf<typeof columns>

/** All types of a workspace in the order of their creation, built-in ones first. */
export const findTypes = statement(
  'types.findTypes',
  `select ${list} from record_types as type where type.workspace_id = $workspaceId order by type.system desc, type.position`,
  { params: { workspaceId: uuid }, columns },
)

/** Creates a type; no row when the workspace already has `maxTypes`. */
export const insertType = statement(
  'types.insertType',
  `insert into record_types as type (workspace_id, id, key, label, icon, app, ui, column_count)
   select $workspaceId, $id, $key, $label, $icon, $app, $ui, $columnCount
   where (select count(*) from record_types where workspace_id = $workspaceId) < $maxTypes
   returning ${list}`,
  {
    params: {
      workspaceId: uuid,
      id: uuid,
      key: text,
      label: text,
      icon: text,
      app: text,
      ui: text,
      columnCount: integer,
      maxTypes: bigint,
    },
    columns,
  },
)

/** Changes a type; a null leaves its column unchanged. `differs`: whether a column has another value than before. */
export const updateType = statement(
  'types.updateType',
  `update record_types as type
   set label = coalesce($label, label), icon = coalesce($icon, icon), app = coalesce($app, app), ui = coalesce($ui, ui),
     description = coalesce($description, description)
   where workspace_id = $workspaceId and key = $key
   returning ${list},
     (old.label, old.icon, old.app, old.ui, old.description) is distinct from (new.label, new.icon, new.app, new.ui, new.description) as differs`,
  {
    params: {
      workspaceId: uuid,
      key: text,
      label: text.orNull,
      icon: text.orNull,
      app: text.orNull,
      ui: text.orNull,
      description: text.orNull,
    },
    columns: { ...columns, differs: boolean.notNull },
  },
)

/** Deletes a type with its fields and its count. */
export const deleteTypeRow = statement('types.deleteTypeRow', 'delete from record_types where workspace_id = $workspaceId and id = $id', {
  params: { workspaceId: uuid, id: uuid },
})

/**
 * Locks a type's definition until the transaction ends. A change of the type's table takes this lock before the lock of the table, so that
 * two changes cannot deadlock. Writes of records, which update the type's count, do not wait for it.
 */
export const lockType = statement(
  'types.lockType',
  'select id, system from record_types where workspace_id = $workspaceId and key = $key for no key update',
  { params: { workspaceId: uuid, key: text }, columns: { id: uuid.notNull, system: boolean.notNull } },
)

/** Gives a type its next edition. */
export const raiseEdition = statement(
  'types.raiseEdition',
  'update record_types set edition = edition + 1 where workspace_id = $workspaceId and id = $id returning edition',
  { params: { workspaceId: uuid, id: uuid }, columns: { edition: integer.notNull } },
)

/** The keys of all types. */
export const findTypeKeys = statement(
  'types.findTypeKeys',
  'select key from record_types where workspace_id = $workspaceId order by system desc, position',
  { params: { workspaceId: uuid }, columns: { key: text.notNull } },
)

const storedFieldColumns = {
  id: uuid.notNull,
  key: text.notNull,
  label: text.notNull,
  type: text.as<FieldType>().notNull,
  required: boolean.notNull,
  is_unique: boolean.notNull,
  immutable: boolean.notNull,
  autogen: text.notNull,
  description: text.notNull,
  rules: jsonb.as<FieldRules>().notNull,
  system: boolean.notNull,
  column_name: text.notNull,
  stale_reads: texts,
  revision: bigint.notNull,
}

/** The columns of a field. `created_at` is text, so that it has the same form in a row and in a JSON list. */
export const fieldColumns = { ...storedFieldColumns, created_at: text.notNull }

/** The select list of `fieldColumns`, for a table or alias `field`. */
export const fieldList = `${selectList(storedFieldColumns, 'field')},
  to_char(field.created_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') as created_at`

/** A field as stored. */
export type FieldRow = RowOf<typeof fieldColumns>

/** Trigram statistics of a field with a trigram index; null for any other field. */
export interface TrigramsRow {
  readonly common_trigrams: readonly string[] | null
  readonly frequent_trigrams: readonly string[] | null
}

const typeWithFieldsColumns = {
  ...ownColumns,
  edition: integer.notNull,
  long_records: boolean.notNull,
  created_at: instant.notNull,
  fields: json.as<readonly (FieldRow & TrigramsRow)[]>().notNull,
}

/** A type with its fields. */
export type TypeWithFields = RowOf<typeof typeWithFieldsColumns>

const typesWithFields = `select ${ownList}, type.edition, type.long_records, type.created_at,
     coalesce((
       select json_agg(listed order by listed.position)
       from (
         select field.position, ${fieldList}, kept.common_trigrams, kept.frequent_trigrams
         from fields as field left join field_indexes as kept
           on kept.workspace_id = field.workspace_id and kept.field_id = field.id and kept.kind = 'trigram'
         where field.workspace_id = type.workspace_id and field.type_id = type.id
       ) as listed
     ), '[]') as fields
   from record_types as type
   where type.workspace_id = $workspaceId`

/** A type with its fields and their trigram statistics. */
export const findTypeWithFields = statement('types.findTypeWithFields', `${typesWithFields} and type.key = $key`, {
  params: { workspaceId: uuid, key: text },
  columns: typeWithFieldsColumns,
})

/** The types that have a field with one of these keys, with all their fields. */
export const findTypesHavingFields = statement(
  'types.findTypesHavingFields',
  `${typesWithFields} and exists (
     select from fields as field
     where field.workspace_id = type.workspace_id and field.type_id = type.id and field.key = any($fieldKeys::text[])
   )
   order by type.position, type.id`,
  { params: { workspaceId: uuid, fieldKeys: texts }, columns: typeWithFieldsColumns },
)
