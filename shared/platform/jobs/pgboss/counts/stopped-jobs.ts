import { integer, text } from '#shared/platform/db/statements/sql-types.ts'
import { statement } from '#shared/platform/db/statements/statement.ts'

/** Numbers of held jobs, which wait for their workspace or app, and of dead letters, by queue. Queues that have none are left out. */
export const countStoppedJobs = statement(
  'jobs.countStoppedJobs',
  `select queue as job, sum(held)::integer as held, sum(failed)::integer as failed
   from (
     select queue, count(*) as held, 0 as failed from deferred_jobs group by queue
     union all
     select source_name, 0, count(*) from pgboss.job
     where name = $deadLetters and state = 'created' and source_name is not null group by source_name
   ) as counted
   group by queue order by queue`,
  { params: { deadLetters: text }, columns: { job: text.notNull, held: integer.notNull, failed: integer.notNull } },
)
