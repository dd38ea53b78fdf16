import type { Database } from '#shared/platform/db/database.ts'

/**
 * Keeps the planner from believing what it once saw of the queue: the table goes from empty to thousands of waiting jobs and back within
 * seconds. By the statistics of another moment a fetch reads all waiting jobs, and once more for every job that it takes: 187 ms for 100 of
 * 6,000. Without any it goes by the table's size as it is now; told that a queue is half of it and that jobs lie in their order, it takes
 * the index of waiting jobs: 1 ms, also for 100 of 100,000.
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
