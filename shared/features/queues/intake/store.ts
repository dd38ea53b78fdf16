import { jsonb, uuid, uuids } from '#shared/platform/db/statements/sql-types.ts'
import { statement } from '#shared/platform/db/statements/statement.ts'

/** The values that changes of records replaced, by the ids of the changes' audit entries. */
export const findReplacedValues = statement(
  'queues.findReplacedValues',
  'select id, before from audit_entries where workspace_id = $workspaceId and id = any($entryIds::uuid[]) order by id',
  {
    params: { workspaceId: uuid, entryIds: uuids },
    columns: { id: uuid.notNull, before: jsonb.as<Readonly<Record<string, unknown>>>() },
  },
)
