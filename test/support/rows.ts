import type { ClientBase, Pool } from 'pg'

/** A pool or one of its connections. */
export type Db = Pick<ClientBase, 'query'>

/** Makes a person a member again, past the API and without a role. */
export async function addMember(db: Db, workspaceId: string, userId: string): Promise<void> {
  await db.query('insert into members (workspace_id, user_id) values ($1, $2)', [workspaceId, userId])
}

/** Gives a role to a person or service account, past the API. */
export async function assignRole(db: Db, workspaceId: string, roleId: string, principalId: string): Promise<void> {
  await db.query('insert into role_members (workspace_id, role_id, principal_id) values ($1, $2, $3)', [workspaceId, roleId, principalId])
}

/** The number of jobs that failed for good. */
export async function countDeadLetters(db: Db): Promise<number> {
  return count(db, `pgboss.job where name = 'dead-letters'`)
}

/** The number of a workspace's jobs of this name in the queue, in any state. */
export async function countJobs(db: Db, name: string, workspaceId: string): Promise<number> {
  return count(db, 'pgboss.job where name = $1 and group_id = $2', [name, workspaceId])
}

/** The number of jobs that wait or run, of these names or of all. */
export async function countOpenJobs(db: Db, names?: readonly string[]): Promise<number> {
  const open = `pgboss.job where state in ('created', 'retry', 'active') and name <> 'dead-letters'`
  return names ? count(db, `${open} and name = any($1)`, [names]) : count(db, open)
}

/** The number of a workspace's operations that are queued or running, of one kind or of all. */
export async function countOpenOperations(db: Db, workspaceId: string, kind?: string): Promise<number> {
  const open = `operations where workspace_id = $1 and status not in ('done', 'failed')`
  return kind === undefined ? count(db, open, [workspaceId]) : count(db, `${open} and kind = $2`, [workspaceId, kind])
}

/** The number of a table's rows, of one workspace or of all. */
export async function countRows(db: Db, table: string, workspaceId?: string): Promise<number> {
  return workspaceId === undefined ? count(db, table) : count(db, `${table} where workspace_id = $1`, [workspaceId])
}

/** Removes the jobs of this name from the queue, and returns their ids. */
export async function deleteJobs(db: Db, name: string): Promise<string[]> {
  const { rows } = await db.query<{ id: string }>('delete from pgboss.job where name = $1 returning id', [name])
  return rows.map(({ id }) => id)
}

/** Removes every job and fails the operations that wait for one, for worlds without workers. */
export async function dropQueuedJobs(db: Db): Promise<void> {
  await db.query('truncate gated_jobs, pgboss.job')
  await db.query(`update operations set status = 'failed', finished_at = now() where status = 'queued'`)
}

/** Lets an access key expire a minute ago. */
export async function expireAccessKey(db: Db, id: string): Promise<void> {
  await db.query(`update access_keys set expires_at = now() - interval '1 minute' where id = $1`, [id])
}

/** Runs a statement in a transaction without triggers and foreign keys. */
export async function queryWithoutTriggers(db: Pool, text: string, values: readonly unknown[] = []): Promise<void> {
  const client = await db.connect()
  try {
    await client.query('begin')
    await client.query('set local session_replication_role = replica')
    await client.query(text, [...values])
    await client.query('commit')
  } finally {
    client.release()
  }
}

/** The column that holds a field, in the table of its record type. */
export async function readColumn(db: Db, workspaceId: string, typeKey: string, fieldKey: string): Promise<string> {
  const { rows } = await db.query<{ column_name: string }>(
    `select column_name from fields join record_types as type on type.id = type_id and type.workspace_id = fields.workspace_id
     where type.workspace_id = $1 and type.key = $2 and fields.key = $3`,
    [workspaceId, typeKey, fieldKey],
  )
  if (!rows[0]) throw new Error(`${typeKey} has no field ${fieldKey}`)
  return rows[0].column_name
}

/** The bytes that count towards a workspace's cap of files; undefined while it has stored none. */
export async function readFileUsage(db: Db, workspaceId: string): Promise<number | undefined> {
  const { rows } = await db.query<{ bytes: number }>('select total_bytes::integer as bytes from file_usage where workspace_id = $1', [
    workspaceId,
  ])
  return rows[0]?.bytes
}

/** Removes a person from a workspace, past the API; roles stay assigned. */
export async function removeMember(db: Db, workspaceId: string, userId: string): Promise<void> {
  await db.query('delete from members where workspace_id = $1 and user_id = $2', [workspaceId, userId])
}

/** Renames a workspace, past the checks of its name. */
export async function renameWorkspace(db: Db, workspaceId: string, name: string): Promise<void> {
  await db.query('update workspaces set name = $2 where id = $1', [workspaceId, name])
}

/** Lets the jobs that wait for their next attempt have it now, of one name or of all. */
export async function retryJobsNow(db: Db, name?: string): Promise<void> {
  await db.query(`update pgboss.job set start_after = now() where state = 'retry' and name = coalesce($1, name)`, [name ?? null])
}

/** Puts a workspace on a plan. */
export async function setPlan(db: Db, workspaceId: string, plan: 'free' | 'paid'): Promise<void> {
  await db.query('update workspaces set plan = $2 where id = $1', [workspaceId, plan])
}

/** Gives a workspace's active jobs an hour of heartbeat and time, so that the queue does not retry them by itself. */
export async function prolongActiveJobs(db: Db, workspaceId: string): Promise<void> {
  await db.query(
    `update pgboss.job set heartbeat_seconds = 3600, expire_seconds = 3600 where state = 'active' and data ->> 'workspaceId' = $1`,
    [workspaceId],
  )
}

/** Suspends a workspace, or makes it active again. */
export async function setWorkspaceStatus(db: Db, workspaceId: string, status: 'active' | 'suspended'): Promise<void> {
  await db.query('update workspaces set status = $2 where id = $1', [workspaceId, status])
}

/** Takes all roles from a person or service account, past the API. */
export async function unassignRoles(db: Db, principalId: string): Promise<void> {
  await db.query('delete from role_members where principal_id = $1', [principalId])
}

/** Changes a workspace's row by these assignments of SQL. */
export async function updateWorkspace(db: Db, workspaceId: string, assignments: string): Promise<void> {
  await db.query(`update workspaces set ${assignments} where id = $1`, [workspaceId])
}

/** Ends all pauses of kinds and pools, and adds this one, which holds no kind. */
export async function setOnlyPause(db: Db, pause: { readonly target: string; readonly name: string } | null): Promise<void> {
  await db.query('delete from job_pauses')
  if (pause) await db.query(`insert into job_pauses (target, name, kinds) values ($1, $2, '{}')`, [pause.target, pause.name])
}

async function count(db: Db, from: string, values: readonly unknown[] = []): Promise<number> {
  const { rows } = await db.query<{ count: number }>(`select count(*)::integer as count from ${from}`, [...values])
  return rows[0]?.count ?? 0
}
