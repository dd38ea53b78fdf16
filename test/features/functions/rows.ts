import type { Db } from '#test/support/rows.ts'

/** Takes a slot of the gate of functions for a job that does not exist. */
export async function addGatedJob(db: Db, workspaceId: string, slot: number): Promise<void> {
  await db.query(
    `insert into gated_jobs (id, workspace_id, gate, queue, slots, priority, slot)
     values (gen_random_uuid(), $1, 'functions', 'functions.invoke', 4, 0, $2)`,
    [workspaceId, slot],
  )
}

/** Sets the end of a run so many minutes back. */
export async function ageRun(db: Db, runId: string, minutes: number): Promise<void> {
  await db.query(`update function_runs set finished_at = now() - $2 * interval '1 minute' where id = $1`, [runId, minutes])
}

/** The number of sessions among these that run a statement or have a transaction open. */
export async function countBusySessions(db: Db, pids: readonly number[]): Promise<number> {
  return (await db.query(`select from pg_stat_activity where pid = any($1) and state <> 'idle'`, [pids])).rowCount ?? 0
}

/** Gives all slots of a workspace's gates back. */
export async function deleteGatedJobs(db: Db, workspaceId: string): Promise<void> {
  await db.query('delete from gated_jobs where workspace_id = $1', [workspaceId])
}

/** The process ids of the sessions that wait for a lock in a statement of gated jobs. */
export async function listGateWaiters(db: Db): Promise<number[]> {
  const { rows } = await db.query<{ pid: number }>(
    `select pid from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock' and query ilike '%gated_jobs%'`,
  )
  return rows.map(({ pid }) => pid)
}

/** The names of locations that were created, in the order of the audit. */
export async function readCreatedNames(db: Db, workspaceId: string): Promise<string[]> {
  const { rows } = await db.query<{ name: string }>(
    `select after ->> 'name' as name from audit_entries where workspace_id = $1 and object_type = 'locations' order by id`,
    [workspaceId],
  )
  return rows.map(({ name }) => name)
}

/** The number of calls of a workspace's functions that hold a slot, and of those that wait for one. */
export async function readGate(db: Db, workspaceId: string): Promise<{ readonly admitted: number; readonly waiting: number }> {
  const { rows } = await db.query<{ admitted: number; waiting: number }>(
    `select count(slot)::integer as admitted, count(*) filter (where slot is null)::integer as waiting from gated_jobs where workspace_id = $1`,
    [workspaceId],
  )
  return rows[0] ?? { admitted: 0, waiting: 0 }
}

/** Whether each run of a flow is personal, oldest first. */
export async function readPersonalRuns(db: Db, flowId: string): Promise<boolean[]> {
  const { rows } = await db.query<{ is_personal: boolean }>('select is_personal from flow_runs where flow_id = $1 order by id', [flowId])
  return rows.map(({ is_personal }) => is_personal)
}

/** The stored secrets of a workspace's functions. */
export async function readSecrets(db: Db, workspaceId: string): Promise<Buffer[]> {
  const { rows } = await db.query<{ value: Buffer }>('select value from function_secrets where workspace_id = $1', [workspaceId])
  return rows.map(({ value }) => value)
}

/** Ends all sessions of Kontor with the database. */
export async function terminateSessions(db: Db): Promise<void> {
  await db.query(
    `select pg_terminate_backend(pid, 5000) from pg_stat_activity where datname = current_database() and application_name like 'kontor%'`,
  )
}
