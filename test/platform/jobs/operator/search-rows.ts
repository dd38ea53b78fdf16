import type { Db } from '#test/support/rows.ts'

/** What becomes of a made-up job, or where it is. */
export const histories = {
  tracked: {
    done: 'done',
    failed: 'failed',
    'failed later': 'failed',
    retried: 'done',
    discarded: 'cancelled',
    cancelled: 'cancelled',
    deleted: null,
    queued: 'waiting',
    gated: 'waiting',
    'between attempts': 'waiting',
    'away part': 'held',
    'away part before': 'held',
    deferred: 'held',
    running: 'running',
  },
  untracked: { 'in queue': 'waiting', 'start later': 'held', 'deferred alone': 'held', letter: 'failed', 'letter gone': null },
} as const

/** A made-up job; `message` and `attempt` are what a failure says. */
export interface MadeJob {
  readonly id: string
  readonly name: string
  readonly history: string
  readonly workspace: string
  readonly principal: string | null
  readonly request: string
  readonly at: string
  readonly code: string
  readonly message: string
  readonly attempt: string | null
}

const columns = `id uuid, name text, history text, workspace uuid, principal uuid, request text, at timestamptz, code text, message text, attempt text`

/** Adds jobs, and lets those change whose history says so. */
export async function addJobs(db: Db, jobs: readonly MadeJob[]): Promise<void> {
  await db.query(`create temporary table made as select * from json_to_recordset($1::json) as made (${columns})`, [JSON.stringify(jobs)])
  await db.query(`insert into operations
    (id, workspace_id, kind, job, principal_id, request_id, created_at, status, is_cancelled, error, attempts, finished_at)
    select id, workspace, name, name, principal, request, at,
      case when history = 'done' then 'done' when history in ('running', 'between attempts', 'away part') then 'running'
        when history in ('failed', 'retried', 'discarded', 'cancelled', 'deleted') then 'failed' else 'queued' end,
      history = 'cancelled',
      case when history in ('failed', 'retried', 'discarded', 'cancelled', 'deleted') then json_build_object('code', code, 'message', message) end,
      case when attempt is null then '[]' else jsonb_build_array(jsonb_build_object('worker', 'w', 'error', attempt)) end,
      case when history in ('done', 'failed', 'retried', 'discarded', 'cancelled', 'deleted') then now() end
    from made where history not in ('in queue', 'start later', 'deferred alone', 'letter', 'letter gone')`)
  await db.query(`insert into pgboss.job (id, name, state, group_id, created_on, start_after, started_on, output, data)
    select id, name,
      (case when history = 'running' then 'active' when history in ('queued', 'in queue', 'start later') then 'created' else 'retry' end)::pgboss.job_state,
      workspace::text, at, case when history in ('start later', 'away part', 'away part before') then now() + interval '1 day' else at end, now(),
      case when history in ('away part', 'away part before') then '{"part": "file store"}'::jsonb end, ${envelope}
    from made
    where history in ('queued', 'between attempts', 'away part', 'away part before', 'running', 'in queue', 'start later')`)
  await db.query(`insert into gated_jobs (id, workspace_id, gate, queue, slots, priority, envelope)
    select id, workspace, 'functions', name, 4, 0, ${envelope} from made where history = 'gated'`)
  await db.query(`insert into deferred_jobs (workspace_id, id, queue, envelope)
    select workspace, id, name, ${envelope} from made where history in ('deferred', 'deferred alone')`)
  await db.query(`insert into pgboss.job (id, name, data, output, source_name, source_id, source_created_on, source_retry_count)
    select gen_random_uuid(), 'dead-letters', ${envelope}, jsonb_build_object('message', message), name, id, at, 4
    from made where history in ('letter', 'letter gone', 'failed')`)
  await db.query(`update operations set status = 'failed', finished_at = now(), error = json_build_object('code', made.code, 'message', made.message)
    from made where made.id = operations.id and history = 'failed later'`)
  await db.query(`update operations set status = 'done', error = null from made where made.id = operations.id and history = 'retried'`)
  await db.query(`update operations set is_cancelled = true from made where made.id = operations.id and history = 'discarded'`)
  await db.query(`delete from operations using made where made.id = operations.id and history = 'deleted'`)
  await db.query(`delete from pgboss.job using made where source_id = made.id and history = 'letter gone'`)
  await db.query('drop table made')
}

const envelope = `jsonb_build_object('workspaceId', workspace, 'payload', '{}'::jsonb,
  'cause', jsonb_build_object('actorId', principal, 'actorType', 'user', 'requestId', request, 'depth', 0))`

/** The ids of the narrow rows of failures. */
export async function listFailures(db: Db): Promise<string[]> {
  const { rows } = await db.query<{ id: string }>('select id from job_failures order by id')
  return rows.map(({ id }) => id)
}

/** Deletes all jobs and operations of the world. */
export async function deleteJobs(db: Db): Promise<void> {
  for (const table of ['operations', 'gated_jobs', 'deferred_jobs', 'pgboss.job']) await db.query(`delete from ${table}`)
}
