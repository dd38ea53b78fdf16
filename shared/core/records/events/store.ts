import { bigint, integer, jsonb, type RowOf, text, texts, uuid, uuids } from '#shared/platform/db/statements/sql-types.ts'
import { statement } from '#shared/platform/db/statements/statement.ts'
import type { ActorType, CauseKind } from '#shared/platform/kernel/cause.ts'

const headColumns = {
  id: uuid.notNull,
  actor_id: uuid,
  actor_type: text.as<ActorType>().notNull,
  cause_kind: text.as<CauseKind>(),
  cause_id: uuid,
  text_length: integer.notNull,
  type_revision: bigint,
}
/** An audit entry without its values. */
export type EntryHead = RowOf<typeof headColumns>

export const findEntryHeads = statement(
  'records.findEntryHeads',
  `select id, actor_id, actor_type, cause_kind, cause_id, text_length, type_revision from audit_entries
   where workspace_id = $workspaceId and id = any($ids::uuid[])`,
  { params: { workspaceId: uuid, ids: uuids }, columns: headColumns },
)

const values = jsonb.as<Readonly<Record<string, unknown>>>()
const valueColumns = { id: uuid.notNull, before: values, after: values }
/** The values of an audit entry. */
export type EntryValues = RowOf<typeof valueColumns>

export const findEntryValues = statement(
  'records.findEntryValues',
  'select id, before, after from audit_entries where workspace_id = $workspaceId and id = any($ids::uuid[])',
  { params: { workspaceId: uuid, ids: uuids }, columns: valueColumns },
)

/** The fields that the filters of enabled webhooks name, by record type. */
export const findFilteredFields = statement(
  'records.findFilteredFields',
  `select object_type, array_agg(distinct key order by key) as keys
   from webhooks, unnest(filter_keys) as key
   where workspace_id = $workspaceId and status <> 'disabled' and object_type is not null
   group by object_type order by object_type`,
  { params: { workspaceId: uuid }, columns: { object_type: text, keys: texts.notNull } },
)
