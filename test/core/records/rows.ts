import type { Pool } from 'pg'
import { schemaOf } from '#shared/core/types/tables/table-names.ts'
import { type Db, queryWithoutTriggers } from '#test/support/rows.ts'

/** Makes a workspace's operations have ended so many hours ago. */
export async function ageOperations(db: Db, workspaceId: string, hours: number): Promise<void> {
  const statement = `update operations set finished_at = now() - $1::integer * interval '1 hour' where workspace_id = $2`
  await db.query(statement, [hours, workspaceId])
}

interface AuditFilter {
  readonly action?: string
  readonly objectType?: string
  readonly recordId?: string
}

/** The number of a workspace's audit entries that match. */
export async function countAuditEntries(db: Db, workspaceId: string, { action, objectType, recordId }: AuditFilter): Promise<number> {
  const { rowCount } = await db.query(
    `select from audit_entries where workspace_id = $1 and action = coalesce($2, action)
     and object_type = coalesce($3, object_type) and record_id = coalesce($4::uuid, record_id)`,
    [workspaceId, action ?? null, objectType ?? null, recordId ?? null],
  )
  return rowCount ?? 0
}

/** What the entries of a workspace's updates say, oldest first, after the first `count`. */
export async function readUpdatesAfter(
  db: Db,
  workspaceId: string,
  count: number,
): Promise<{ record_id: string; before: Record<string, unknown>; after: Record<string, unknown> }[]> {
  const statement = `select record_id, before, after from audit_entries
    where workspace_id = $1 and action = 'record.updated' order by id offset $2`
  return (await db.query(statement, [workspaceId, count])).rows
}

/** The values of a record's row as JSON text, with the digits that PostgreSQL stores, without its id and dates. */
export async function readRow(db: Db, table: string, id: string): Promise<string> {
  const statement = `select (to_jsonb(kept) - array['id', 'created_at', 'updated_at'])::text as row from ${table} as kept where id = $1`
  return (await db.query<{ row: string }>(statement, [id])).rows[0]?.row ?? ''
}

/** Makes a record as old as if its audit entry had been written some milliseconds after it. */
export async function makeOlder(db: Db, table: string, id: string, milliseconds: number): Promise<void> {
  await db.query(`update ${table} set created_at = created_at - $2::integer * interval '1 millisecond' where id = $1`, [id, milliseconds])
}

/** Makes a workspace's audit entries those of a release that kept no causes. */
export async function forgetCauses(db: Pool, workspaceId: string): Promise<void> {
  const statement = `update audit_entries
    set cause_kind = null, cause_id = null, record_created_by = null, record_created_at = null, record_updated_at = null
    where workspace_id = $1`
  await queryWithoutTriggers(db, statement, [workspaceId])
}

/** The number of a workspace's records by its counts. */
export async function countStoredRecords(db: Db, workspaceId: string): Promise<number> {
  const statement = 'select sum(records)::integer as count from record_counts where workspace_id = $1'
  return (await db.query<{ count: number }>(statement, [workspaceId])).rows[0]?.count ?? 0
}

/** The counters of a workspace's numbers, each with its next number. */
export async function readNextNumbers(db: Db, workspaceId: string): Promise<{ field_id: string; next: string }[]> {
  const statement = 'select field_id, next from field_numbers where workspace_id = $1 order by field_id'
  return (await db.query(statement, [workspaceId])).rows
}

/** Whether a transaction holds a record's row. */
export async function isRecordLocked(db: Db, workspaceId: string, typeKey: string, id: string): Promise<boolean> {
  const statement = `select from ${schemaOf(workspaceId)}.${typeKey} where id = $1 for update skip locked`
  return (await db.query(statement, [id])).rowCount === 0
}

/**
 * Makes a workspace's fields and audit entries those of a release without revisions. With `isUpgraded` only the entries: the fields that
 * have a revision were created after the upgrade.
 */
export async function forgetRevisions(db: Pool, workspaceId: string, { isUpgraded = false } = {}): Promise<void> {
  await queryWithoutTriggers(db, 'update audit_entries set type_revision = null where workspace_id = $1', [workspaceId])
  if (!isUpgraded) await db.query('update fields set revision = 0 where workspace_id = $1', [workspaceId])
}

/** Process ids of workers' database sessions that are idle in a transaction. */
export async function listIdleTransactions(db: Db): Promise<number[]> {
  const { rows } = await db.query<{ pid: number }>(
    `select pid from pg_stat_activity
     where datname = current_database() and state = 'idle in transaction' and application_name like 'kontor worker%'`,
  )
  return rows.map(({ pid }) => pid)
}

/** Status and progress of the workspace's recompute. */
export async function readRecompute(db: Db, workspaceId: string): Promise<{ status: string; progress: { done: number; total: number } }> {
  const statement = `select progress, status from operations where workspace_id = $1 and kind = 'records.recompute'`
  return (await db.query(statement, [workspaceId])).rows[0]
}

/** Adds an audit entry with this cause. */
export async function addEntry(db: Db, workspaceId: string, causeKind: string | null, causeId: string | null): Promise<void> {
  await db.query(
    `insert into audit_entries (workspace_id, actor_type, action, object_type, record_id, request_id, cause_kind, cause_id)
     values ($1, 'system', 'record.created', 'invoices', gen_random_uuid(), '', $2, $3)`,
    [workspaceId, causeKind, causeId],
  )
}

/** Statements that change or remove audit entries. */
export const auditChanges: Readonly<Record<string, (db: Db) => Promise<unknown>>> = {
  update: (db) => db.query('update audit_entries set actor_id = null'),
  delete: (db) => db.query('delete from audit_entries'),
  truncate: (db) => db.query('truncate audit_entries'),
}

/** What runs a statement, such as the open transaction of a test. */
interface Runner {
  readonly query: (text: string, values: readonly unknown[]) => Promise<unknown>
}

/** Sets a value of a stored record, and increases its version. */
export async function setStoredValue(db: Runner, table: string, column: string, id: string, value: number | string): Promise<void> {
  await db.query(`update ${table} set ${column} = $2, updated_at = updated_at + interval '1 second' where id = $1`, [id, value])
}

/** Deletes a stored record, past its audit and count. */
export async function deleteStoredRecord(db: Runner, table: string, id: string): Promise<void> {
  await db.query(`delete from ${table} where id = $1`, [id])
}
