import { giveUpRun } from '#shared/features/flows/execution/store.ts'
import { callOutJob, continueRunJob } from '#shared/features/flows/jobs.ts'
import { flowLimits } from '#shared/features/flows/limits.ts'
import { runJobOrigin } from '#shared/features/flows/runs/start.ts'
import { findLostRuns, reviveRun } from '#shared/features/flows/runs/store.ts'
import { type CleanupServices, defineCleanup } from '#shared/platform/db/old-rows.ts'
import type { Egress } from '#shared/platform/egress/egress.ts'
import { wakeNumbering } from '#shared/platform/events/announce.ts'
import { enqueueAll } from '#shared/platform/jobs/enqueue-all.ts'
import type { JobQueue } from '#shared/platform/jobs/job-queue.ts'
import { newId } from '#shared/platform/kernel/ids.ts'
import type { MaintenanceTask } from '#shared/platform/kernel/maintenance-task.ts'

/** A run that was not updated for this many milliseconds and waits for nothing has lost its job. */
const lostAfterMs = 45_000

/** Number of replacement jobs after which a lost run is ended as failed. */
const maxRevivals = 5

const batchSize = 200

/** Enqueues a new job for each open run whose job was lost; ends a run that has lost too many jobs, so that no run stays open forever. */
const reviveRuns: MaintenanceTask<CleanupServices & { readonly jobQueue: JobQueue; readonly egress: Egress }> = {
  name: 'lost runs of flows',
  everySeconds: 20,
  run: async (services, signal) => {
    const { db, jobQueue, egress } = services
    const isHeld = await egress.isHeld()
    const lost = await db.query(findLostRuns({ before: new Date(services.now().getTime() - lostAfterMs), limit: batchSize }))
    for (const run of lost) {
      signal.throwIfAborted()
      const { workspaceId, runId, revision, revived, waits } = run
      if (waits === 'call' && isHeld) continue
      await db.transaction(async (tx) => {
        if (revived >= maxRevivals) {
          const error = { code: 'INTERNAL', message: 'The run was given up: its worker was lost again and again', node_id: null }
          await tx.query(giveUpRun({ workspaceId, id: runId, revision, error: JSON.stringify(error), now: services.now() }))
          wakeNumbering({ db: tx, jobQueue, workspace: { id: workspaceId } }, 'soon')
          return
        }
        const jobId = newId()
        if ((await tx.query(reviveRun({ workspaceId, id: runId, revision, jobId, now: services.now() }))).length === 0) return
        const origin = runJobOrigin(workspaceId, runId)
        // The call is repeated under the same Idempotency-Key.
        if (waits === 'call') await enqueueAll(jobQueue, tx, callOutJob, [{ id: jobId, origin, payload: { workspaceId, runId, revision } }])
        else await enqueueAll(jobQueue, tx, continueRunJob, [{ id: jobId, origin, payload: { workspaceId, runId } }])
      })
    }
  },
}

/** Maintenance tasks of flows (docs/contract/jobs.md#retention). */
export const flowMaintenance = [
  reviveRuns,
  defineCleanup('sweep_flow_runs', {
    table: 'flow_runs',
    old: 'finished_at < $before',
    by: 'finished_at',
    keptDays: flowLimits.keptDays,
    everyMinutes: 60,
    batch: 200,
  }),
  defineCleanup('sweep_flow_outputs', {
    table: 'flow_outputs',
    old: `created_at < $before and exists (
      select from flow_runs as run
      where run.workspace_id = flow_outputs.workspace_id and run.id = flow_outputs.run_id and run.finished_at < $before
    )`,
    by: 'created_at',
    keptDays: flowLimits.retryDays,
    everyMinutes: 60,
    batch: 100,
  }),
  defineCleanup('sweep_flow_skips', { table: 'flow_skips', old: 'hour < $before', by: 'hour', keptDays: 8, everyMinutes: 60 }),
  defineCleanup('sweep_flow_drafts', {
    table: 'flow_drafts',
    old: 'day < $before::timestamptz::date',
    by: 'day',
    keptDays: 2,
    everyMinutes: 600,
  }),
]
