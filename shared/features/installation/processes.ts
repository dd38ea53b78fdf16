import type { ProcessState } from '#shared/features/installation/schemas.ts'
import type { Executor } from '#shared/platform/db/database.ts'
import { listProcesses } from '#shared/platform/db/processes/store.ts'
import type { AnyJob } from '#shared/platform/jobs/job.ts'

/** Lists the processes that live, and then those that died within the last day; `jobs` are the declared jobs. */
export async function describeProcesses(db: Executor, jobs: readonly AnyJob[]): Promise<ProcessState[]> {
  return (await db.query(listProcesses())).map(({ skew_ms, running, pools, ...process }) => ({
    id: process.id,
    kind: process.kind,
    pools: [...pools],
    host: process.host,
    pid: process.pid,
    release: process.release,
    started_at: process.started_at,
    heartbeat_at: process.heartbeat_at,
    dead: process.dead,
    clock_ahead_ms: skew_ms,
    memory_bytes: process.memory_bytes,
    slots: jobs.reduce((sum, { pool, concurrency }) => sum + (pools.includes(pool) ? concurrency : 0), 0),
    running: running.map(({ job, id, workspace_id, since }) => ({ kind: job, id, workspace: workspace_id, since })),
  }))
}
