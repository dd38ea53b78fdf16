import { insertJobs } from '#bench/jobs/insert-jobs.ts'
import type { Executor } from '#shared/platform/db/database.ts'
import type { AnyJob, JobEnvelope } from '#shared/platform/jobs/job.ts'
import { signalChannels } from '#shared/platform/jobs/job-signals.ts'

/** Request id of a backlog's jobs, by which they are found again. */
const requestId = 'backlog'

/** The workspace and the payloads of waiting jobs. */
export interface Backlog {
  readonly job: AnyJob
  readonly workspaceId: string
  readonly actorId: string
  readonly payload: object
}

/** Writes the rows of this many waiting jobs, as requests would have left them, and wakes the workers. */
export async function fill(db: Executor, { job, workspaceId, actorId, payload }: Backlog, count: number): Promise<void> {
  const envelope: JobEnvelope = {
    workspaceId,
    cause: { actorId, actorType: 'user', requestId, depth: 0, kind: 'request', id: null },
    payload,
  }
  const waiting = job.gate ? waitingAtGate : insertJobs('made.id', '$6::jsonb', '$2::text', '$4')
  const place = job.gate ? [job.gate.name, job.gate.perWorkspace, job.gate.priority] : []
  await db.query({
    text: `with made as materialized (select uuidv7() as id from generate_series(1, $1::int)),
      tracked as (
        insert into operations (id, workspace_id, kind, job, principal_id, request_id)
        select id, $2::uuid, $3, $4, $5::uuid, '${requestId}' from made
      )
      ${waiting}`,
    values: [count, workspaceId, job.kind, job.name, actorId, JSON.stringify(envelope), ...place],
  })
  if (job.gate) await db.query({ text: 'select admit_jobs($1, $2)', values: [workspaceId, job.gate.name] })
  await db.query({ text: 'select pg_notify($1, $2)', values: [signalChannels.filled, job.name] })
}

const waitingAtGate = `insert into gated_jobs (id, workspace_id, gate, queue, slots, priority, envelope)
  select id, $2::uuid, $7, $4, $8::smallint, $9::smallint, $6::jsonb from made`

/** Deletes the waiting jobs; running ones end by themselves. */
export async function clear(db: Executor, { job, workspaceId }: Backlog): Promise<void> {
  await db.query({ text: 'delete from gated_jobs where workspace_id = $1 and slot is null', values: [workspaceId] })
  await db.query({
    text: `delete from pgboss.job where name = $1 and group_id = $2::text and state in ('created', 'retry')`,
    values: [job.name, workspaceId],
  })
  await db.query({
    text: `delete from operations where workspace_id = $1 and request_id = '${requestId}' and status <> 'running'`,
    values: [workspaceId],
  })
}
