import { defineCleanup } from '#shared/platform/db/old-rows.ts'

/** Deletes expired sessions and password resets. */
export const peopleMaintenance = [
  defineCleanup('sweep_sessions', { table: 'sessions', old: 'expires_at < $before', by: 'expires_at', everyMinutes: 60 }),
  defineCleanup('sweep_password_resets', { table: 'password_resets', old: 'expires_at < $before', by: 'expires_at', everyMinutes: 60 }),
]
