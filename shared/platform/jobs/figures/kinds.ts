import type { Executor } from '#shared/platform/db/database.ts'
import { listProcesses } from '#shared/platform/db/processes/store.ts'
import type { JobKind, Times } from '#shared/platform/jobs/figures/schemas.ts'
import { findTopWorkspaces, sumAttempts, sumTimes } from '#shared/platform/jobs/figures/store.ts'
import { percentileOf } from '#shared/platform/jobs/figures/time-steps.ts'
import type { AnyJob } from '#shared/platform/jobs/job.ts'
import { listPauses } from '#shared/platform/jobs/pauses/store.ts'
import { findQueueDepths } from '#shared/platform/jobs/pgboss/counts/queue-depths.ts'
import { findStoppedJobs } from '#shared/platform/jobs/pgboss/counts/stopped-jobs.ts'
import { hourMs } from '#shared/platform/kernel/time/units.ts'

/** How many of the workspaces that use a kind most are named. */
const topCount = 5

/** Describes every kind of job. Its numbers were counted some seconds ago, by pg-boss and by the maintenance of jobs. */
export async function describeKinds(db: Executor, jobs: readonly AnyJob[], now: Date): Promise<JobKind[]> {
  const since = new Date(now.getTime() - hourMs)
  const [depths, stopped, attempts, times, top, processes] = [
    new Map((await findQueueDepths(db)).map((depth) => [depth.job, depth])),
    new Map((await findStoppedJobs(db)).map((row) => [row.job, row])),
    new Map((await db.query(sumAttempts({ since }))).map((row) => [row.job, row])),
    Map.groupBy(await db.query(sumTimes({ since })), ({ job }) => job),
    Map.groupBy(await db.query(findTopWorkspaces({ since, count: topCount })), ({ job }) => job),
    (await db.query(listProcesses())).filter(({ dead }) => !dead),
  ]
  const paused = new Set((await listPauses(db)).flatMap((pause) => pause.kinds))
  const percentiles = (job: string, of: 'waited' | 'ran'): Times => {
    const counts = new Map((times.get(job) ?? []).map((row) => [row.step, row[of]]))
    return { p50: percentileOf(counts, 0.5), p95: percentileOf(counts, 0.95) }
  }
  return jobs.map(({ name, pool, concurrency, slotsPerWorkspace, gate }) => {
    const depth = depths.get(name)
    const inAll = concurrency * processes.filter(({ pools }) => pools.includes(pool)).length
    const running = depth?.running ?? 0
    return {
      kind: name,
      pool,
      paused: paused.has(name),
      waiting: depth ? depth.waiting - depth.delayed : 0,
      held: (stopped.get(name)?.held ?? 0) + (depth?.delayed ?? 0),
      running,
      failed: stopped.get(name)?.failed ?? 0,
      oldest_seconds: Math.round(depth?.oldestSeconds ?? 0),
      wait_ms: percentiles(name, 'waited'),
      run_ms: percentiles(name, 'ran'),
      done_hour: attempts.get(name)?.done ?? 0,
      failed_attempts_hour: attempts.get(name)?.failed ?? 0,
      limits: {
        per_process: concurrency,
        per_workspace_and_process: slotsPerWorkspace ?? null,
        per_workspace: gate?.perWorkspace ?? null,
        in_all: inAll,
      },
      full: inAll === 0 ? null : Math.round((running / inAll) * 100) / 100,
      top_workspaces: (top.get(name) ?? []).map(({ workspace_id, name, attempts, run_ms }) => ({
        id: workspace_id,
        name,
        attempts,
        run_ms,
      })),
    }
  })
}
