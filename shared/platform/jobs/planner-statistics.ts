import type { Database } from '#shared/platform/db/database.ts'

/**
 * Pins the planner statistics of the queue table, which goes from empty to thousands of waiting jobs and back within seconds. With outdated
 * statistics a fetch reads all waiting jobs, once more per fetched job: 187 ms for 100 of 6,000. Without statistics the planner uses the
 * current table size; with n_distinct 2 and correlation 1 it uses the index of waiting jobs: 1 ms, also for 100 of 100,000.
 */
export async function pinPlannerStatistics(database: Database): Promise<void> {
  await database.query({
    text: `alter table pgboss.job_common
      alter column name set statistics 0, alter column state set statistics 0,
      alter column blocked set statistics 0, alter column start_after set statistics 0`,
  })
  await database.query({
    text: `select pg_restore_attribute_stats('schemaname', 'pgboss', 'relname', 'job_common', 'attname', 'name', 'inherited', false,
      'null_frac', 0::real, 'avg_width', 20, 'n_distinct', 2::real, 'correlation', 1::real)`,
  })
}
