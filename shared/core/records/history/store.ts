import { bigint, instant, jsonb, text, uuid } from '#shared/platform/db/statements/sql-types.ts'
import { statement } from '#shared/platform/db/statements/statement.ts'

// `$from` bounds the entries below, so that those of an earlier type of the key are left out.
const ofRecord = 'workspace_id = $workspaceId and record_id = $recordId and object_type = $objectType and id >= $from'
const params = { workspaceId: uuid, recordId: uuid, objectType: text, from: uuid }
const values = jsonb.as<Readonly<Record<string, unknown>>>()

/** The last entry of a record; no row for one without entries. `values` are those before it, if it is the deletion. */
export const findLastEntry = statement(
  'records.findLastEntry',
  `select action, created_at, type_revision, case when action = 'record.deleted' then before end as values, record_created_by, record_created_at
   from audit_entries where ${ofRecord} order by id desc limit 1`,
  {
    params,
    columns: {
      action: text.notNull,
      created_at: instant.notNull,
      type_revision: bigint,
      values,
      record_created_by: uuid,
      record_created_at: instant,
    },
  },
)

/** The last creation or deletion of a record before the id `until`, no row without one; and the time of its last change before it. */
export const findLife = statement(
  'records.findLife',
  `select id, action, created_at,
     (select created_at from audit_entries where ${ofRecord} and id < $until order by id desc limit 1) as changed_at
   from audit_entries where ${ofRecord} and id < $until and action in ('record.created', 'record.deleted') order by id desc limit 1`,
  {
    params: { ...params, until: uuid },
    columns: {
      id: uuid.notNull,
      action: text.notNull,
      created_at: instant.notNull,
      changed_at: instant.notNull,
    },
  },
)

/** The last creation of a record; no row without one. */
export const findCreation = statement(
  'records.findCreation',
  `select id, created_at from audit_entries where ${ofRecord} and action = 'record.created' order by id desc limit 1`,
  { params, columns: { id: uuid.notNull, created_at: instant.notNull } },
)

/** The values that a record had before the id `until`, each from the last entry that has its key, from the entry `from` on. */
export const findValuesUntil = statement(
  'records.findValuesUntil',
  `select distinct on (value.key) value.key, value.value, entry.created_at, entry.type_revision
   from audit_entries as entry cross join lateral jsonb_each(entry.after) as value
   where ${ofRecord} and id < $until order by value.key, entry.id desc`,
  {
    params: { ...params, until: uuid },
    columns: { key: text.notNull, value: jsonb, created_at: instant.notNull, type_revision: bigint },
  },
)
