import { defineCleanup } from '#shared/platform/db/old-rows.ts'

/** Runs past the time for which they are kept (decisions, Kept for how long). A run may hold much of what it logged. */
export const functionMaintenance = [
  defineCleanup('sweep_function_runs', {
    table: 'function_runs',
    old: 'finished_at < $1',
    by: 'finished_at',
    keptDays: 30,
    everyMinutes: 60,
    batch: 200,
  }),
]
