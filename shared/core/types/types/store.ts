import { declareConflicts } from '#shared/platform/db/database-errors.ts'
import { sql } from '#shared/platform/db/statements/statement.ts'

declareConflicts({
  record_types_key: ['KEY_TAKEN', 'key is already used by another record type'],
  // A record was being created while its type was deleted and another type got its key.
  record_counts_type: ['NOT_FOUND', 'The record type was deleted'],
})

/** A record type as stored, with the number of its records. */
export interface StoredType {
  readonly id: string
  readonly key: string
  readonly label: string
  readonly icon: string
  readonly app: string
  /** JSON text. */
  readonly ui: string
  readonly description: string
  readonly system: boolean
  readonly created_at: string
  readonly record_count: number
}

const columns = `type.id, type.key, type.label, type.icon, type.app, type.ui, type.description, type.system, type.created_at,
  coalesce((
    select sum(count.records) from record_counts as count where count.workspace_id = type.workspace_id and count.type_id = type.id
  ), 0)::bigint as record_count`

/** All types of a workspace in the order of their creation, built-in ones first. Values: workspace. */
export const findTypes = sql(
  'find_types',
  `select ${columns} from record_types as type where type.workspace_id = $1 order by type.system desc, type.position`,
)

/**
 * Creates a type; no row when the workspace already has the maximum number of types. Values: workspace, id, key, label, icon, app, ui,
 * column count, maximum of types.
 */
export const insertType = sql(
  'insert_type',
  `insert into record_types as type (workspace_id, id, key, label, icon, app, ui, column_count)
   select $1, $2, $3, $4, $5, $6, $7, $8
   where (select count(*) from record_types where workspace_id = $1) < $9
   returning ${columns}`,
)

/** Changes a type; a null leaves its column as it is. Values: workspace, key, label, icon, app, ui, description. */
export const updateType = sql(
  'update_type',
  `update record_types as type
   set label = coalesce($3, label), icon = coalesce($4, icon), app = coalesce($5, app), ui = coalesce($6, ui),
     description = coalesce($7, description)
   where workspace_id = $1 and key = $2
   returning ${columns}`,
)

/** Deletes a type with its fields and its count. Values: workspace, id. */
export const deleteTypeRow = sql('delete_type', 'delete from record_types where workspace_id = $1 and id = $2')

/**
 * Locks a type's definition until the transaction ends. A change of the type's table takes this lock before the lock of the table, so that
 * two changes cannot deadlock. Writes of records, which update the type's count, do not wait for it. Values: workspace, key.
 */
export const lockType = sql('lock_type', 'select id, system from record_types where workspace_id = $1 and key = $2 for no key update')

/** Gives a type its next edition. Values: workspace, id. */
export const raiseEdition = sql(
  'raise_edition',
  'update record_types set edition = edition + 1 where workspace_id = $1 and id = $2 returning edition',
)

/** The keys of all types. Values: workspace. */
export const findTypeKeys = sql('suggest_type_keys', 'select key from record_types where workspace_id = $1 order by system desc, position')

/** The columns of a field, for a table or alias `field`. `created_at` is text, so that it has the same form in a row and in a JSON list. */
export const fieldColumns = `field.id, field.key, field.label, field.type, field.required, field.is_unique, field.immutable,
  field.autogen, field.description, field.rules, field.system, field.column_name,
  field.stale_reads,
  to_char(field.created_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') as created_at`

/** A type with its fields and their trigram statistics. Values: workspace, key. */
export const findTypeWithFields = sql(
  'find_record_type',
  `select type.id, type.key, type.label, type.icon, type.app, type.ui, type.description, type.system, type.edition, type.long_records, type.created_at,
     coalesce((
       select json_agg(listed order by listed.position)
       from (
         select field.position, ${fieldColumns}, kept.common_trigrams, kept.frequent_trigrams
         from fields as field left join field_indexes as kept
           on kept.workspace_id = field.workspace_id and kept.field_id = field.id and kept.kind = 'trigram'
         where field.workspace_id = type.workspace_id and field.type_id = type.id
       ) as listed
     ), '[]') as fields
   from record_types as type
   where type.workspace_id = $1 and type.key = $2`,
)
