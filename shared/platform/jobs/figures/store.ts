import type { Executor } from '#shared/platform/db/database.ts'
import { bigint, double, instant, json, smallint, text, uuid } from '#shared/platform/db/statements/sql-types.ts'
import { statement } from '#shared/platform/db/statements/statement.ts'
import type { AttemptFigures, TimeFigures } from '#shared/platform/jobs/figures/attempt-figures.ts'

/** What was done for a workspace. */
export interface WorkspaceFigures {
  readonly workspaceId: string
  readonly calls: number
  readonly computingMs: number
  readonly databaseMs: number
  readonly jobs: number
  readonly jobMs: number
}

// Each insert sorts its rows by their key, so that two processes lock them in one order. The commits do not wait for the disk: a crash loses
// seconds of figures.
const hasty = `hasty as materialized (select set_config('synchronous_commit', 'off', true))`

const addAttempts = statement(
  'jobs.addAttempts',
  `with ${hasty}
   insert into job_figures as kept (minute, job, workspace_id, done, failed, run_ms)
   select date_trunc('minute', $now::timestamptz), job, "workspaceId", done, failed, "runMs"
   from hasty cross join json_to_recordset($rows::json) as row (job text, "workspaceId" uuid, done integer, failed integer, "runMs" bigint)
   left join workspaces on workspaces.id = "workspaceId"
   where "workspaceId" is null or (workspaces.id is not null and workspaces.deleting_at is null)
   order by "workspaceId", job
   on conflict on constraint job_figures_key do update
   set done = kept.done + excluded.done, failed = kept.failed + excluded.failed, run_ms = kept.run_ms + excluded.run_ms`,
  { params: { now: instant, rows: json } },
)

const addTimes = statement(
  'jobs.addTimes',
  `with ${hasty}
   insert into job_times as kept (minute, job, step, waited, ran)
   select date_trunc('minute', $now::timestamptz), job, step, waited, ran
   from hasty cross join json_to_recordset($rows::json) as row (job text, step smallint, waited integer, ran integer)
   order by job, step
   on conflict (minute, job, step) do update set waited = kept.waited + excluded.waited, ran = kept.ran + excluded.ran`,
  { params: { now: instant, rows: json } },
)

// An owner may be a person outside of workspaces, which the join leaves out. A workspace that is being deleted gets no more rows.
const addWorkspaceFigures = statement(
  'jobs.addWorkspaceFigures',
  `with ${hasty}
   insert into workspace_figures as kept (minute, workspace_id, calls, computing_ms, database_ms, jobs, job_ms)
   select date_trunc('minute', $now::timestamptz), "workspaceId", calls, "computingMs", "databaseMs", jobs, "jobMs"
   from hasty cross join json_to_recordset($rows::json) as row
     ("workspaceId" uuid, calls integer, "computingMs" bigint, "databaseMs" bigint, jobs integer, "jobMs" bigint)
   join workspaces on workspaces.id = "workspaceId" and workspaces.deleting_at is null
   order by "workspaceId"
   on conflict (workspace_id, minute) do update
   set calls = kept.calls + excluded.calls, computing_ms = kept.computing_ms + excluded.computing_ms,
     database_ms = kept.database_ms + excluded.database_ms, jobs = kept.jobs + excluded.jobs, job_ms = kept.job_ms + excluded.job_ms`,
  { params: { now: instant, rows: json } },
)

/** Adds figures to those of the minute of `now`. */
export async function addFigures(
  db: Executor,
  now: Date,
  attempts: readonly AttemptFigures[],
  times: readonly TimeFigures[],
  workspaces: readonly WorkspaceFigures[],
): Promise<void> {
  if (attempts.length > 0) await db.query(addAttempts({ now, rows: JSON.stringify(attempts) }))
  if (times.length > 0) await db.query(addTimes({ now, rows: JSON.stringify(times) }))
  if (workspaces.length > 0) await db.query(addWorkspaceFigures({ now, rows: JSON.stringify(workspaces) }))
}

/** Numbers of attempts by kind of job, since an instant. */
export const sumAttempts = statement(
  'jobs.sumAttempts',
  'select job, sum(done)::bigint as done, sum(failed)::bigint as failed from job_figures where minute >= $since group by job order by job',
  { params: { since: instant }, columns: { job: text.notNull, done: bigint.notNull, failed: bigint.notNull } },
)

/** How many times fell into each step, by kind of job, since an instant. */
export const sumTimes = statement(
  'jobs.sumTimes',
  `select job, step, sum(waited)::bigint as waited, sum(ran)::bigint as ran from job_times where minute >= $since
   group by job, step order by job, step`,
  { params: { since: instant }, columns: { job: text.notNull, step: smallint.notNull, waited: bigint.notNull, ran: bigint.notNull } },
)

const topColumns = {
  job: text.notNull,
  workspace_id: uuid.notNull,
  /** Null once the workspace is deleted. */
  name: text,
  attempts: bigint.notNull,
  run_ms: bigint.notNull,
}

/** The workspaces whose attempts ran longest, by kind of job, since an instant: at most `count` of each kind. */
export const findTopWorkspaces = statement(
  'jobs.findTopWorkspaces',
  `select ranked.job, ranked.workspace_id, workspaces.name, ranked.attempts, ranked.run_ms
   from (
     select job, workspace_id, sum(done + failed)::bigint as attempts, sum(run_ms)::bigint as run_ms,
       row_number() over (partition by job order by sum(run_ms) desc, workspace_id) as rank
     from job_figures where minute >= $since and workspace_id is not null group by job, workspace_id
   ) as ranked
   left join workspaces on workspaces.id = ranked.workspace_id
   where ranked.rank <= $count
   order by ranked.job, ranked.rank`,
  { params: { since: instant, count: bigint }, columns: topColumns },
)

/** The jobs that ended in each minute since an instant, of minutes that had any. */
export const countEndedByMinute = statement(
  'jobs.countEndedByMinute',
  'select minute, sum(done)::bigint as done from job_figures where minute >= $since group by minute order by minute',
  { params: { since: instant }, columns: { minute: instant.notNull, done: bigint.notNull } },
)

const usageColumns = {
  workspace_id: uuid.notNull,
  calls: bigint.notNull,
  computing_ms: bigint.notNull,
  database_ms: bigint.notNull,
  jobs: bigint.notNull,
  job_ms: bigint.notNull,
}

/** What was done for each workspace since an instant; workspaces for which nothing was done are left out. */
export const sumWorkspaceFigures = statement(
  'jobs.sumWorkspaceFigures',
  `select workspace_id, sum(calls)::bigint as calls, sum(computing_ms)::bigint as computing_ms, sum(database_ms)::bigint as database_ms,
     sum(jobs)::bigint as jobs, sum(job_ms)::bigint as job_ms
   from workspace_figures where minute >= $since group by workspace_id order by workspace_id`,
  { params: { since: instant }, columns: usageColumns },
)

const selectTopShare = statement(
  'jobs.selectTopShare',
  `select coalesce(max(used.ms) / nullif(sum(used.ms), 0), 0)::float8 as share
   from (
     select sum(job_ms) as ms from workspace_figures where minute >= date_trunc('minute', now() - interval '10 minutes') group by workspace_id
   ) as used`,
  { params: {}, columns: { share: double.notNull } },
)
/** The part of the time of all workspaces' jobs of the last ten minutes that the busiest workspace used; 0 when no job ran. */
export const findTopShare = (db: Executor): Promise<{ share: number }[]> => db.query(selectTopShare())
