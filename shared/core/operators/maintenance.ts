import { defineCleanup } from '#shared/platform/db/old-rows.ts'

/** Deletes expired sessions of the console. */
export const operatorMaintenance = [
  defineCleanup('sweep_operator_sessions', {
    table: 'operator_sessions',
    old: 'expires_at < $before',
    by: 'expires_at',
    everyMinutes: 60,
  }),
]
