import { oldRows } from '#shared/platform/db/old-rows.ts'

/** Sessions and resets that have ended. */
export const peopleChores = [
  oldRows('sweep_sessions', { table: 'sessions', old: 'expires_at < $1', by: 'expires_at', everyMinutes: 60 }),
  oldRows('sweep_password_resets', { table: 'password_resets', old: 'expires_at < $1', by: 'expires_at', everyMinutes: 60 }),
]
