import { setTimeout as delay } from 'node:timers/promises'
import { insertJobs } from '#bench/jobs/insert-jobs.ts'
import { continueRunJob } from '#shared/features/flows/jobs.ts'
import type { Executor } from '#shared/platform/db/database.ts'
import { signalChannels } from '#shared/platform/jobs/job-signals.ts'

/** A flow, by its workspace and its path there. */
export interface BenchFlow {
  readonly workspaceId: string
  readonly path: string
}

const idOf = ({ path }: BenchFlow): string => path.split('/').at(-1) ?? ''

const envelope = `jsonb_build_object('workspaceId', $1::uuid, 'payload', jsonb_build_object('workspaceId', $1::uuid, 'runId', made.id), 'cause',
  jsonb_build_object('actorId', null, 'actorType', 'system', 'requestId', made.id, 'depth', 0))`

/** Writes this many waiting runs of a flow with their jobs, as their triggers would have left them, and wakes the workers. */
export async function putRuns(db: Executor, flow: BenchFlow, count: number): Promise<void> {
  await db.query({
    text: `with made as materialized (select uuidv7() as id, uuidv7() as job_id from generate_series(1, $3::int)),
      runs as (
        insert into flow_runs (workspace_id, id, flow_id, flow_name, version, editor_id, trigger, input, trigger_key, depth, job_id, created_at, touched_at)
        select flow.workspace_id, made.id, flow.id, flow.name, flow.version, present.editor_id,
          '{"kind": "manual", "event": null, "object_type": null, "record_id": null}', '{"input": null}', 'bench ' || made.id, 1, made.job_id, now(), now()
        from made cross join flows as flow join flow_versions as present
          on present.workspace_id = flow.workspace_id and present.flow_id = flow.id and present.version = flow.version
        where flow.workspace_id = $1 and flow.id = $2
      )
      ${insertJobs('made.job_id', envelope, '$1::text', '$4')}`,
    values: [flow.workspaceId, idOf(flow), count, continueRunJob.name],
  })
  await db.query({ text: 'select pg_notify($1, $2)', values: [signalChannels.filled, continueRunJob.name] })
}

/** Waits until this many runs of a flow have ended, and returns the rate per second since the first began. */
export async function runsEnded(db: Executor, flow: BenchFlow, count: number): Promise<number> {
  for (;;) {
    const [row] = await db.query<{ ended: number; failed: number; seconds: number }>({
      text: `select count(*)::int as ended, (count(*) filter (where status <> 'ok'))::int as failed,
          extract(epoch from max(finished_at) - min(started_at))::float8 as seconds
        from flow_runs where workspace_id = $1 and flow_id = $2 and finished_at is not null`,
      values: [flow.workspaceId, idOf(flow)],
    })
    if (row && row.failed > 0) throw new Error(`${row.failed} runs failed`)
    if (row && row.ended >= count) return row.ended / row.seconds
    // As often as the floor's queue is polled (drain.ts).
    await delay(100)
  }
}

/** Waits until a run has begun, or ended, and returns when, in milliseconds since its creation. */
export async function reached(db: Executor, runId: string, what: 'started_at' | 'finished_at'): Promise<number> {
  for (;;) {
    const [row] = await db.query<{ ms: number | null }>({
      text: `select (extract(epoch from ${what} - created_at) * 1000)::float8 as ms from flow_runs where id = $1`,
      values: [runId],
    })
    if (row && row.ms !== null) return row.ms
    await delay(2)
  }
}

/** Deletes the runs of a flow, and the waiting jobs that would continue any. */
export async function forgetRuns(db: Executor, flow: BenchFlow): Promise<void> {
  await db.query({
    text: `delete from pgboss.job where name = $1 and group_id = $2::text`,
    values: [continueRunJob.name, flow.workspaceId],
  })
  await db.query({ text: 'delete from flow_runs where workspace_id = $1 and flow_id = $2', values: [flow.workspaceId, idOf(flow)] })
}
