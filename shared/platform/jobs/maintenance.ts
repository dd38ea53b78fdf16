import type { Executor } from '#shared/platform/db/database.ts'
import { defineCleanup } from '#shared/platform/db/old-rows.ts'
import type { JobQueue } from '#shared/platform/jobs/job-queue.ts'
import { failAbandonedOperations } from '#shared/platform/jobs/operations/abandoned-operations.ts'
import { storeStoppedJobs } from '#shared/platform/jobs/pgboss/counts/stopped-jobs.ts'
import { probeParts } from '#shared/platform/jobs/pgboss/part-waits.ts'
import { keepPausedJobs } from '#shared/platform/jobs/pgboss/paused-kinds.ts'
import { countEverySeconds, type MaintenanceTask } from '#shared/platform/kernel/maintenance-task.ts'

type JobMaintenanceTask = MaintenanceTask<{ readonly db: Executor; readonly jobQueue: JobQueue }>

/** Repairs of what processes that died have left behind. */
const repairs: readonly JobMaintenanceTask[] = [
  { name: 'abandoned operations', everySeconds: 10, run: ({ db, jobQueue }) => failAbandonedOperations(db, jobQueue) },
  { name: 'jobs at gates', everySeconds: 5, run: ({ jobQueue }) => jobQueue.gates.admitAll() },
  { name: 'jobs of paused kinds', everySeconds: 3_600, run: ({ db }) => keepPausedJobs(db) },
  // With the scheduler's second and the poll of a worker, a part that is back is found within 10 s.
  {
    name: 'probes of parts',
    everySeconds: 5,
    run: async ({ db, jobQueue }) => {
      for (const queue of await probeParts(db)) jobQueue.signals.signalJobs(queue)
    },
  },
]

/** Figures older than a week (docs/operations/watching.md#figures-of-work). */
const oldFigures = { old: 'minute < $before', by: 'minute', keptDays: 7, everyMinutes: 10, batch: 10_000 }

const counts: JobMaintenanceTask = {
  name: 'counts of stopped jobs',
  everySeconds: countEverySeconds,
  run: ({ db }) => storeStoppedJobs(db),
}

export const jobMaintenance = [
  ...repairs,
  counts,
  defineCleanup('sweep_job_figures', { table: 'job_figures', ...oldFigures }),
  defineCleanup('sweep_job_times', { table: 'job_times', ...oldFigures }),
  defineCleanup('sweep_workspace_figures', { table: 'workspace_figures', ...oldFigures }),
  // For the days kept see docs/contract/jobs.md#retention.
  defineCleanup('sweep_operations', {
    table: 'operations',
    old: 'finished_at < $before',
    by: 'finished_at',
    keptDays: 30,
    everyMinutes: 60,
  }),
  // The next blob sweep removes the bytes of these files.
  defineCleanup('sweep_job_files', { table: 'job_files', old: 'created_at < $before', by: 'created_at', keptDays: 1, everyMinutes: 60 }),
  defineCleanup('sweep_idempotency_records', {
    table: 'idempotency_records',
    old: 'created_at < $before',
    by: 'created_at',
    keptDays: 1,
    everyMinutes: 60,
  }),
]
