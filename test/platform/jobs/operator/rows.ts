import { platformCause } from '#shared/platform/kernel/cause.ts'
import type { Db } from '#test/support/rows.ts'

/** An operation that a test makes up. */
export interface MadeOperation {
  readonly status: 'queued' | 'running' | 'done' | 'failed'
  readonly job?: string
  readonly workspaceId?: string | null
  readonly principalId?: string
  readonly requestId?: string
  readonly error?: { readonly code: string; readonly message: string; readonly details?: object }
  readonly createdAt: string
}

/** Adds an operation without a job; ends with the world unless it has ended. */
export async function addOperation(db: Db, made: MadeOperation): Promise<string> {
  const { status, job = 'records.export', workspaceId, principalId, requestId = 'made', error, createdAt } = made
  const { rows } = await db.query<{ id: string }>(
    `insert into operations (id, workspace_id, kind, job, principal_id, request_id, status, error, created_at, finished_at)
     values (uuidv7(), $1, $2, $2, $3, $4, $5, $6, $7, case when $5 in ('done', 'failed') then now() end) returning id`,
    [workspaceId, job, principalId, requestId, status, error && JSON.stringify(error), createdAt],
  )
  return rows[0]?.id ?? ''
}

/** The status of a mail of the outbox. */
export async function readMail(db: Db, id: string): Promise<{ status: string; last_error: string | null } | undefined> {
  const { rows } = await db.query<{ status: string; last_error: string | null }>(
    'select status, last_error from outbox_mails where id = $1',
    [id],
  )
  return rows[0]
}

/** Every text that the tables of jobs keep of a job. */
export async function readEnvelopes(db: Db): Promise<string> {
  const { rows } = await db.query<{ text: string }>(
    `select coalesce(string_agg(data::text, ' '), '') as text from (
       select data from pgboss.job union all select envelope from gated_jobs union all select envelope from deferred_jobs
     ) as kept`,
  )
  return rows[0]?.text ?? ''
}

/** Adds the dead letter of a job, an export unless it is another, whose last attempt failed, with this stack trace. */
export async function addDeadLetter(db: Db, id: string, workspaceId: string, stack = '', name = 'records.export'): Promise<void> {
  const data = {
    workspaceId,
    cause: platformCause('made'),
    payload: { typeKey: 'locations', q: null, filter: null, sort: null, dir: null },
  }
  await db.query(
    `insert into pgboss.job (id, name, data, output, source_name, source_id, source_created_on, source_retry_count)
     values (gen_random_uuid(), 'dead-letters', $1, $3, $4, $2, now(), 4)`,
    [JSON.stringify(data), id, JSON.stringify({ message: 'made', stack }), name],
  )
}

/** Adds a live worker process of the pool `data` that runs nothing. */
export async function addLiveWorker(db: Db): Promise<void> {
  await db.query(
    `insert into processes select uuidv7(), kind, '{data}', host, pid, release, started_at, now() + interval '1 hour', 0, 0, '[]'
     from processes limit 1`,
  )
}

/** Makes a queued job wait for the file store until 2100, or ends that wait. */
export async function holdJob(db: Db, id: string, isHeld: boolean): Promise<void> {
  await db.query(
    isHeld
      ? `update pgboss.job set start_after = '2100-01-01T00:00:00Z', state = 'retry', output = '{"part":"file store"}' where id = $1`
      : 'update pgboss.job set start_after = now() where id = $1',
    [id],
  )
}

/** Moves a queued job to the deferred jobs of its workspace. */
export async function deferQueuedJob(db: Db, id: string, workspaceId: string): Promise<void> {
  await db.query(
    `with gone as (delete from pgboss.job where id = $1 returning id, name, data)
     insert into deferred_jobs (workspace_id, id, queue, envelope) select $2, id, name, data from gone`,
    [id, workspaceId],
  )
}

/** Adds operations of a day in 2018 that are done. */
export async function addManyOperations(db: Db, count: number): Promise<void> {
  await db.query(
    `insert into operations (id, kind, job, request_id, status, created_at, finished_at)
     select uuidv7(), 'records.export', 'records.export', 'many', 'done', '2018-01-01T12:00:00Z', now() from generate_series(1, $1)`,
    [count],
  )
}

/** Adds operations of a request that have failed. */
export async function addFailures(db: Db, requestId: string, count: number): Promise<void> {
  await db.query(
    `insert into operations (id, kind, job, request_id, status, finished_at)
     select uuidv7(), 'race.failing', 'race.failing', $1, 'failed', now() from generate_series(1, $2)`,
    [requestId, count],
  )
}

/** Creates the table of effects of the jobs of the races. */
export async function createEffects(db: Db): Promise<void> {
  await db.query('create table race_effects (id uuid not null)')
}

/** Drops the table of effects, and deletes the jobs of the races. */
export async function dropEffects(db: Db): Promise<void> {
  await db.query('drop table race_effects')
  await db.query(`delete from pgboss.job where name like 'race.%' or name = 'dead-letters'`)
}

/** The statement of a job's effect. */
export const effectOf = (id: string) => ({ text: 'insert into race_effects (id) values ($1)', values: [id] })

/** The number of committed effects of jobs. */
export async function countEffects(db: Db, ids: readonly string[]): Promise<number> {
  const { rows } = await db.query<{ count: number }>('select count(*)::integer as count from race_effects where id = any($1)', [ids])
  return rows[0]?.count ?? 0
}

/** Whether a job has a dead letter. */
export async function hasDeadLetter(db: Db, id: string): Promise<boolean> {
  const { rows } = await db.query('select from pgboss.job where source_id = $1', [id])
  return rows.length > 0
}

/** The state of a job in its queue. */
export async function readJobState(db: Db, name: string, id: string): Promise<string | undefined> {
  const { rows } = await db.query<{ state: string }>('select state::text from pgboss.job where name = $1 and id = $2', [name, id])
  return rows[0]?.state
}

/** Counts operations by their status and whether they were cancelled, such as `failed true`. */
export async function countOutcomes(db: Db, ids: readonly string[]): Promise<Readonly<Record<string, number>>> {
  const { rows } = await db.query<{ outcome: string; count: number }>(
    `select status || ' ' || is_cancelled as outcome, count(*)::integer as count from operations where id = any($1) group by 1`,
    [ids],
  )
  return Object.fromEntries(rows.map(({ outcome, count }) => [outcome, count]))
}

/** The number of cancelled operations of a request. */
export async function countCancelled(db: Db, requestId: string): Promise<number> {
  const { rows } = await db.query<{ count: number }>(
    'select count(*)::integer as count from operations where request_id = $1 and is_cancelled',
    [requestId],
  )
  return rows[0]?.count ?? 0
}

/** Progress and result of an operation that is done; undefined before. */
export async function readDone(db: Db, id: string): Promise<{ progress: unknown; result: unknown } | undefined> {
  const { rows } = await db.query<{ progress: unknown; result: unknown }>(
    `select progress, result from operations where id = $1 and status = 'done'`,
    [id],
  )
  return rows[0]
}

/** What the log of operators says was done how often, oldest first. */
export async function readLog(db: Db): Promise<string[]> {
  const { rows } = await db.query<{ action: string; count: number }>('select action, count from operator_log order by id')
  return rows.map(({ action, count }) => `${action} ${count}`)
}

/** Records that the caller of a failed operation was told so. */
export async function markAnswered(db: Db, id: string): Promise<void> {
  await db.query('update operations set failure_answered_at = now() where id = $1', [id])
}

/** Gives an operation an attempt that failed, progress, and a job that caused it. */
export async function describeOperation(db: Db, id: string, { error, parentId }: { error: string; parentId?: string }): Promise<void> {
  const attempt = { worker: 'worker-1:4711', started_at: '2026-11-29T10:00:00Z', ended_at: '2026-11-29T10:00:30Z', error }
  await db.query(`update operations set attempts = $2, progress = '{"done": 120, "total": 500}', parent_id = $3 where id = $1`, [
    id,
    JSON.stringify([attempt]),
    parentId,
  ])
}
