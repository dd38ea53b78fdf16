import { defineCleanup } from '#shared/platform/db/old-rows.ts'

/** Deletes runs past their retention (docs/contract/functions.md#runs). The batch is small because a run's logs may be large. */
export const functionMaintenance = [
  defineCleanup('sweep_function_runs', {
    table: 'function_runs',
    old: 'finished_at < $before',
    by: 'finished_at',
    keptDays: 30,
    everyMinutes: 60,
    batch: 200,
  }),
]
