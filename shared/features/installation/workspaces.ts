import type { WorkspaceLoad } from '#shared/features/installation/schemas.ts'
import { listWorkspaceHoldings } from '#shared/features/installation/store.ts'
import type { Executor } from '#shared/platform/db/database.ts'
import { sumWorkspaceFigures } from '#shared/platform/jobs/figures/store.ts'
import { countWaitingByWorkspace } from '#shared/platform/jobs/pgboss/counts/waiting-by-workspace.ts'
import { dayMs } from '#shared/platform/kernel/time/units.ts'

/** The figures of all workspaces in the last day; those that used most of the database come first. */
export async function listWorkspaceLoads(db: Executor, now: Date): Promise<WorkspaceLoad[]> {
  const used = new Map(
    (await db.query(sumWorkspaceFigures({ since: new Date(now.getTime() - dayMs) }))).map((row) => [row.workspace_id, row]),
  )
  const waiting = new Map((await db.query(countWaitingByWorkspace())).map((row) => [row.workspace_id, row.waiting]))
  const allJobMs = used.values().reduce((sum, { job_ms }) => sum + job_ms, 0)
  const loads = (await db.query(listWorkspaceHoldings())).map(
    ({ id, name, status, plan, owner, rows, row_bytes, file_bytes, mails_day }) => {
      const { calls = 0, computing_ms = 0, database_ms = 0, jobs = 0, job_ms = 0 } = used.get(id) ?? {}
      return {
        id,
        name,
        status,
        plan,
        owner,
        calls,
        computing_seconds: inSeconds(computing_ms),
        database_seconds: inSeconds(database_ms),
        jobs,
        job_seconds: inSeconds(job_ms),
        job_share: allJobMs === 0 ? 0 : Math.round((job_ms / allJobMs) * 1_000) / 1_000,
        waiting: waiting.get(id) ?? 0,
        rows,
        row_bytes,
        file_bytes,
        mails_day,
      }
    },
  )
  return loads.sort((a, b) => b.database_seconds - a.database_seconds || b.calls - a.calls)
}

const inSeconds = (ms: number): number => Math.round(ms / 100) / 10
