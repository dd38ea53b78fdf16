import { bigint, integer, jsonb, type RowOf, text, uuid, uuids } from '#shared/platform/db/statements/sql-types.ts'
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
