/**
 * SQL that is true while a job waits, is to be retried, or runs. `queue` and `id` are SQL: a test of the column such as `= operation.job`,
 * and a value.
 */
export const isJobOpen = (queue: string, id: string): string =>
  `exists (select from pgboss.job as job where job.name ${queue} and job.id = ${id} and job.state in ('created', 'retry', 'active'))`
