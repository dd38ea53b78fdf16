import type { Executor } from '#shared/platform/db/database.ts'
import { sql } from '#shared/platform/db/statements/statement.ts'

const lock = sql('lock_record_cap', `select pg_advisory_xact_lock(hashtextextended('records ' || $1, 0))`)
/** Lets one caller at a time check a workspace's cap of records, until its transaction ends. */
export const lockRecordCap = (db: Executor, workspaceId: string): Promise<unknown> => db.query(lock(workspaceId))

const ofWorkspace = sql('count_records', 'select coalesce(sum(records), 0)::bigint as records from record_counts where workspace_id = $1')
/** How many records a workspace has. */
export async function countAllRecords(db: Executor, workspaceId: string): Promise<number> {
  return (await db.query<{ records: number }>(ofWorkspace(workspaceId)))[0]?.records ?? 0
}

const ofType = sql(
  'count_type',
  'select coalesce(sum(records), 0)::bigint as records from record_counts where workspace_id = $1 and type_id = $2',
)
/** How many records a type has. */
export async function countRecords(db: Executor, workspaceId: string, typeId: string): Promise<number> {
  return (await db.query<{ records: number }>(ofType(workspaceId, typeId)))[0]?.records ?? 0
}
