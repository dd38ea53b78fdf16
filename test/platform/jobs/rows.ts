import type { Db } from '#test/support/rows.ts'

/** Adds an operation whose job is lost, 20 seconds old. Returns its id. */
export async function addLostOperation(db: Db, workspaceId: string): Promise<string> {
  const { rows } = await db.query<{ id: string }>(
    `insert into operations (id, workspace_id, kind, job, request_id, created_at)
     values (gen_random_uuid(), $1, 'lost', 'records.export', 'test', now() - interval '20 seconds') returning id`,
    [workspaceId],
  )
  return rows[0]?.id ?? ''
}

/** Makes an operation a minute old. */
export async function ageOperation(db: Db, id: string): Promise<void> {
  await db.query(`update operations set created_at = now() - interval '1 minute' where id = $1`, [id])
}

/** The number of jobs of this name that belong to an operation. */
export async function countJobsOfOperation(db: Db, name: string, operationId: string): Promise<number> {
  const statement = `select from pgboss.job where name = $1 and data ->> 'operationId' = $2`
  return (await db.query(statement, [name, operationId])).rowCount ?? 0
}

/** Removes a job from the queue. */
export async function deleteJob(db: Db, id: string): Promise<void> {
  await db.query('delete from pgboss.job where id = $1', [id])
}

/** Leaves an operation and its job as a killed worker does: taken, not ended, and without a heartbeat for a minute. */
export async function loseAttempt(db: Db, operationId: string): Promise<void> {
  await db.query(`update operations set status = 'running', finished_at = null where id = $1`, [operationId])
  await db.query(
    `update pgboss.job set state = 'active', completed_on = null, output = null, started_on = now() - interval '1 minute',
       heartbeat_on = now() - interval '1 minute' where id = $1`,
    [operationId],
  )
}

/** Status of an operation and the number of operations that it awaits; null when it awaits none. */
export async function readAwaited(db: Db, id: string): Promise<{ status: string; awaits: number | null } | undefined> {
  const { rows } = await db.query<{ status: string; awaits: number | null }>('select awaits, status from operations where id = $1', [id])
  return rows[0]
}

/** Makes the database refuse files of jobs until the returned function is called. */
export async function refuseJobFiles(db: Db): Promise<() => Promise<unknown>> {
  await db.query(`create or replace function broken() returns trigger language plpgsql as $$ begin raise exception 'no file today'; end $$`)
  await db.query('create trigger broken before insert on job_files for each row execute function broken()')
  return () => db.query('drop trigger broken on job_files')
}

/** Lets the queue look for lost attempts at its next supervision. */
export async function resetMonitoring(db: Db): Promise<void> {
  await db.query('update pgboss.queue set monitor_on = null')
}

/** Names an operation in the payload of the job that continues it. */
export async function setContinuedOperation(db: Db, id: string): Promise<void> {
  await db.query(
    `update operations set continuation = jsonb_set(continuation, '{envelope,payload,operation}', to_jsonb($1::text)) where id = $1::uuid`,
    [id],
  )
}

/** The number of jobs of this name that are not completed. */
export async function countWaitingJobs(db: Db, name: string): Promise<number> {
  return (await db.query(`select from pgboss.job where name = $1 and state < 'completed'`, [name])).rowCount ?? 0
}

/** Gives the workspace of this name to another owner. */
export async function moveWorkspace(db: Db, name: string, ownerId: string): Promise<void> {
  await db.query('update workspaces set owner_id = $2 where name = $1', [name, ownerId])
}

/** A job that waits for a part: its part, how often, its counted attempts and the seconds until its next one. */
export interface WaitingJob {
  readonly id: string
  readonly part: string
  readonly waits: number
  readonly retryCount: number
  readonly seconds: number
}

/** The jobs of a queue that wait for a part, in the order of their creation. */
export async function readWaitingJobs(db: Db, name: string): Promise<WaitingJob[]> {
  const { rows } = await db.query<WaitingJob>(
    `select id, output ->> 'part' as part, (output ->> 'waits')::integer as waits, retry_count as "retryCount",
       extract(epoch from start_after - now())::float8 as seconds
     from pgboss.job where name = $1 and state = 'retry' and output ? 'part' order by created_on, id`,
    [name],
  )
  return rows
}

/** Puts the next attempt of a queue's waiting jobs off by a day. */
export async function postponeRetries(db: Db, name: string): Promise<void> {
  await db.query(`update pgboss.job set start_after = now() + interval '1 day' where name = $1 and state = 'retry'`, [name])
}

/** Lets a job have begun to wait for its part two days ago. */
export async function ageWait(db: Db, id: string): Promise<void> {
  const statement = `update pgboss.job set output = jsonb_set(output, '{since}', to_jsonb(now() - interval '2 days')) where id = $1`
  await db.query(statement, [id])
}

/** Changes the version that pg-boss's tables say they have. */
export async function setTableVersion(db: Db, version: number): Promise<void> {
  await db.query('update pgboss.version set version = $1', [version])
}

/** Pauses a kind without telling the processes, as when the signal is lost. */
export async function addPauseRow(db: Db, kind: string): Promise<void> {
  await db.query(`insert into job_pauses (target, name, kinds) values ('kind', $1, array[$1])`, [kind])
}

/** Resumes a kind without telling the processes. */
export async function deletePauseRow(db: Db, kind: string): Promise<void> {
  await db.query(`delete from job_pauses where target = 'kind' and name = $1`, [kind])
}

/** The jobs of a kind with an open operation that wait at their gate, wait in their queue, and run. */
export async function readJobStates(
  db: Db,
  kind: string,
): Promise<{ readonly gated: number; readonly waiting: number; readonly active: number }> {
  const { rows } = await db.query<{ gated: number; waiting: number; active: number }>(
    `select (select count(*)::integer from gated_jobs where queue = $1 and slot is null) as gated,
       count(*) filter (where state < 'active')::integer as waiting, count(*) filter (where state = 'active')::integer as active
     from pgboss.job where name = $1 and id in (select id from operations where finished_at is null)`,
    [kind],
  )
  return rows[0] ?? { gated: 0, waiting: 0, active: 0 }
}

/** Lets the waiting jobs of a kind, and their operations, be so many days old. */
export async function ageWaitingJobs(db: Db, kind: string, days: number): Promise<void> {
  await db.query(
    `update pgboss.job set keep_until = keep_until - $2 * interval '1 day', created_on = created_on - $2 * interval '1 day'
     where name = $1 and state = 'created'`,
    [kind, days],
  )
  await db.query(`update operations set created_at = created_at - $2 * interval '1 day' where job = $1 and finished_at is null`, [
    kind,
    days,
  ])
}

/** The days for which each waiting job of a kind is kept from now on. */
export async function readKeptDays(db: Db, kind: string): Promise<number[]> {
  const { rows } = await db.query<{ days: number }>(
    `select extract(epoch from keep_until - now())::float8 / 86400 as days from pgboss.job where name = $1 and state = 'created'`,
    [kind],
  )
  return rows.map(({ days }) => days)
}

/** The jobs that hold a slot of a gate of a workspace, in the order of their ids. */
export async function readAdmitted(db: Db, workspaceId: string): Promise<{ readonly id: string; readonly queue: string }[]> {
  const { rows } = await db.query<{ id: string; queue: string }>(
    'select id, queue from gated_jobs where workspace_id = $1 and slot is not null order by id',
    [workspaceId],
  )
  return rows
}

/** Adds waiting calls to the gate of functions of a workspace, which come before all others. The returned function removes them. */
export async function addGatedBacklog(db: Db, workspaceId: string, count: number): Promise<() => Promise<void>> {
  await db.query(
    `insert into gated_jobs (id, workspace_id, gate, queue, slots, priority, envelope)
     select gen_random_uuid(), $1, 'functions', 'functions.invoke', 4, 0, '{"backlog": true}' from generate_series(1, $2)`,
    [workspaceId, count],
  )
  return async () => void (await db.query(`delete from gated_jobs where workspace_id = $1 and envelope ? 'backlog'`, [workspaceId]))
}

/** Ends all pauses, without telling the processes. */
export async function deletePauses(db: Db): Promise<void> {
  await db.query('delete from job_pauses')
}

/** Lets the pause of a pool hold no kinds, as that of a release without kinds in the pool. */
export async function emptyPoolPause(db: Db, pool: string): Promise<void> {
  await db.query(`update job_pauses set kinds = '{}' where target = 'pool' and name = $1`, [pool])
}

/** Deletes the figures of what was done so far. */
export async function deleteFigures(db: Db): Promise<void> {
  await db.query('delete from workspace_figures')
  await db.query('delete from job_figures')
}
