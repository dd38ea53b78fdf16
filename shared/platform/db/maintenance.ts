import { defineCleanup } from '#shared/platform/db/old-rows.ts'

/** Clean-ups of tables that processes share. Their rows age by the database's time. */
export const databaseMaintenance = [
  defineCleanup('sweep_seen_changes', {
    table: 'cache_invalidations',
    old: `created_at < $before::timestamptz - interval '1 hour'`,
    by: 'id',
    everyMinutes: 5,
    byServerClock: true,
  }),
  defineCleanup('sweep_rate_windows', {
    table: 'rate_limits',
    old: 'expire < extract(epoch from $before::timestamptz) * 1000',
    by: 'expire',
    everyMinutes: 10,
    byServerClock: true,
  }),
  defineCleanup('sweep_processes', {
    table: 'processes',
    old: `heartbeat_at < $before::timestamptz - interval '1 day'`,
    by: 'heartbeat_at',
    everyMinutes: 60,
    byServerClock: true,
  }),
]
