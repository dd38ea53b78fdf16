import type { Executor } from '#shared/platform/db/database.ts'
import { integer, type RowOf, text } from '#shared/platform/db/statements/sql-types.ts'
import { statement } from '#shared/platform/db/statements/statement.ts'
import { deadLetterQueue } from '#shared/platform/jobs/job.ts'

const loadColumns = { job: text.notNull, waiting: integer.notNull, running: integer.notNull }

/** Numbers of waiting and running jobs of a queue. */
type QueueLoad = RowOf<typeof loadColumns>

const countJobsByQueue = statement(
  'jobs.countJobsByQueue',
  `select job, count(*) filter (where state in ('created', 'retry'))::integer as waiting,
     count(*) filter (where state = 'active')::integer as running
   from (
     select name as job, state::text, data ->> 'workspaceId' as workspace from pgboss.job where name <> $deadLetters
     union all
     select queue, 'created', workspace_id::text from gated_jobs where slot is null
     union all
     select queue, 'created', workspace_id::text from deferred_jobs
     union all
     select 'events', 'created', workspace_id::text from event_inbox
     union all
     select 'events', 'created', workspace_id::text from waiting_deliveries
   ) as held
   where ($workspaceId::text is null or workspace = $workspaceId)
   group by job order by job`,
  { params: { deadLetters: text, workspaceId: text.orNull }, columns: loadColumns },
)
/** Counts jobs by queue name. Jobs at a gate and deferred jobs count as waiting; events without a number and waiting deliveries are the queue `events`. */
export const countQueuedJobs = (db: Executor, workspaceId?: string): Promise<QueueLoad[]> =>
  db.query(countJobsByQueue({ deadLetters: deadLetterQueue, workspaceId }))
