import { sql } from '#shared/platform/db/statements/statement.ts'

/** The values that changes of records replaced. Values: workspace, ids of the changes' audit entries. */
export const findReplacedValues = sql(
  'find_values_before',
  'select id, before from audit_entries where workspace_id = $1 and id = any($2::uuid[]) order by id',
)
