import type { Executor } from '#shared/platform/db/database.ts'
import { integer, type RowOf, text } from '#shared/platform/db/statements/sql-types.ts'
import { statement } from '#shared/platform/db/statements/statement.ts'
import { deadLetterQueue } from '#shared/platform/jobs/job.ts'

const columns = { job: text.notNull, held: integer.notNull, failed: integer.notNull, given_up: integer.notNull }

/**
 * Numbers of held jobs of a queue, which wait for their workspace or app, and of its failed ones as operators find them. Those that were
 * given up after their last attempt are dead letters; the others failed by what their caller sent.
 */
type StoppedJobs = RowOf<typeof columns>

// Dead letters are counted by the index `job_letters_source`, failed jobs by `job_failures_job`. Rows whose counts are as before are not
// touched; those that are, in one order, so that two processes may count at the same time.
const upsertStoppedJobs = statement(
  'jobs.upsertStoppedJobs',
  `insert into job_counts as kept (job, held, failed, given_up)
   select queue.name, coalesce(deferred.count, 0), coalesce(failure.count, 0), coalesce(letter.count, 0)
   from pgboss.queue as queue
   left join (select queue, count(*)::integer as count from deferred_jobs group by queue) as deferred on deferred.queue = queue.name
   left join (select job, count(*)::integer as count from job_failures group by job) as failure on failure.job = queue.name
   left join (
     select source_name, count(*)::integer as count from pgboss.job
     where name = '${deadLetterQueue}' and state = 'created' and source_id is not null group by source_name
   ) as letter on letter.source_name = queue.name
   left join job_counts as before on before.job = queue.name
   where (before.held, before.failed, before.given_up)
     is distinct from (coalesce(deferred.count, 0), coalesce(failure.count, 0), coalesce(letter.count, 0))
   order by queue.name
   on conflict (job) do update set held = excluded.held, failed = excluded.failed, given_up = excluded.given_up`,
  { params: {} },
)
/** Counts held and failed jobs and stores the numbers. */
export async function storeStoppedJobs(db: Executor): Promise<void> {
  await db.query(upsertStoppedJobs())
}

const selectStoppedJobs = statement(
  'jobs.selectStoppedJobs',
  'select job, held, failed, given_up from job_counts where held > 0 or failed > 0 or given_up > 0',
  { params: {}, columns },
)
/** Reads the numbers of held and failed jobs as they were stored, some seconds ago. Queues that have none are left out. */
export const findStoppedJobs = (db: Executor): Promise<StoppedJobs[]> => db.query(selectStoppedJobs())
