import type { Executor } from '#shared/platform/db/database.ts'
import { bigint, nothing, text, uuid } from '#shared/platform/db/statements/sql-types.ts'
import { statement } from '#shared/platform/db/statements/statement.ts'

const lockCap = statement('records.lockCap', `select pg_advisory_xact_lock(hashtextextended('records ' || $workspaceId, 0))`, {
  params: { workspaceId: text },
  columns: { pg_advisory_xact_lock: nothing.notNull },
})
/** Lets one caller at a time check a workspace's cap of records, until its transaction ends. */
export const lockRecordCap = (db: Executor, workspaceId: string): Promise<unknown> => db.query(lockCap({ workspaceId }))

const countColumns = { records: bigint.notNull }

const countOfWorkspace = statement(
  'records.countOfWorkspace',
  'select coalesce(sum(records), 0)::bigint as records from record_counts where workspace_id = $workspaceId',
  { params: { workspaceId: uuid }, columns: countColumns },
)
/** The number of a workspace's records. */
export async function countAllRecords(db: Executor, workspaceId: string): Promise<number> {
  return (await db.query(countOfWorkspace({ workspaceId })))[0]?.records ?? 0
}

const countOfType = statement(
  'records.countOfType',
  'select coalesce(sum(records), 0)::bigint as records from record_counts where workspace_id = $workspaceId and type_id = $typeId',
  { params: { workspaceId: uuid, typeId: uuid }, columns: countColumns },
)
/** The number of a type's records. */
export async function countRecords(db: Executor, workspaceId: string, typeId: string): Promise<number> {
  return (await db.query(countOfType({ workspaceId, typeId })))[0]?.records ?? 0
}
