import type { Executor } from '#shared/platform/db/database.ts'
import { oldRows } from '#shared/platform/db/old-rows.ts'
import type { Queue } from '#shared/platform/jobs/job-queue.ts'
import { settleAbandoned } from '#shared/platform/jobs/operations/abandoned-operations.ts'
import type { Chore } from '#shared/platform/kernel/maintenance-task.ts'

type QueueChore = Chore<{ readonly db: Executor; readonly queue: Queue }>

/** What is made good behind processes that died. */
const repairs: readonly QueueChore[] = [
  { name: 'abandoned operations', everySeconds: 10, run: ({ db, queue }) => settleAbandoned(db, queue) },
  { name: 'jobs at gates', everySeconds: 5, run: ({ queue }) => queue.doors.letInAll() },
]

export const queueChores = [
  ...repairs,
  // Decisions, Kept for how long.
  oldRows('sweep_operations', { table: 'operations', old: 'finished_at < $1', by: 'finished_at', keptDays: 30, everyMinutes: 60 }),
  // Their bytes go with the next sweep of blobs.
  oldRows('sweep_job_files', { table: 'job_files', old: 'created_at < $1', by: 'created_at', keptDays: 1, everyMinutes: 60 }),
  oldRows('sweep_kept_answers', { table: 'kept_answers', old: 'created_at < $1', by: 'created_at', keptDays: 1, everyMinutes: 60 }),
]
