import { defineCleanup } from '#shared/platform/db/old-rows.ts'

/** Deletes expired invitations. */
export const workspaceMaintenance = [
  defineCleanup('sweep_invitations', { table: 'invitations', old: 'expires_at < $before', by: 'expires_at', everyMinutes: 60 }),
]
