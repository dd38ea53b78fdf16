import { defineCleanup } from '#shared/platform/db/old-rows.ts'

/** Results of batches hold every changed record. They are kept for 24 hours, because an Idempotency-Key returns them for that long. */
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
