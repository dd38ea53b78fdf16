import { defineCleanup } from '#shared/platform/db/old-rows.ts'

/**
 * Deletes results of batches after 25 hours, earlier than other operations, because they hold every changed record. An Idempotency-Key
 * returns them for 24 hours.
 */
export const recordMaintenance = [
  defineCleanup('sweep_batch_answers', {
    table: 'operations',
    old: `job = 'records.change' and finished_at < $before::timestamptz - interval '1 hour'`,
    by: 'finished_at',
    keptDays: 1,
    everyMinutes: 60,
    batch: 100,
  }),
]
