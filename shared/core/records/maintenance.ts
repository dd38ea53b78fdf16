import { defineCleanup } from '#shared/platform/db/old-rows.ts'

/** Answers of batches hold every record that was changed. An Idempotency-Key asks for them for 24 hours, and no longer. */
export const recordMaintenance = [
  defineCleanup('sweep_batch_answers', {
    table: 'operations',
    old: `job = 'records.change' and finished_at < $1::timestamptz - interval '1 hour'`,
    by: 'finished_at',
    keptDays: 1,
    everyMinutes: 60,
    batch: 100,
  }),
]
