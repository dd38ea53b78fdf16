import { defineCleanup } from '#shared/platform/db/old-rows.ts'

/** Invitations that nobody accepted in time. */
export const workspaceMaintenance = [
  defineCleanup('sweep_invitations', { table: 'invitations', old: 'expires_at < $1', by: 'expires_at', everyMinutes: 60 }),
]
