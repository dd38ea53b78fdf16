import { integer, uuid } from '#shared/platform/db/statements/sql-types.ts'
import { statement } from '#shared/platform/db/statements/statement.ts'
import { deadLetterQueue } from '#shared/platform/jobs/job.ts'

/** The most waiting jobs that are counted; there may be more. */
const maxCounted = 100_000

// Queue by queue, in the order of the index that fetches use: it has the waiting jobs alone, and dead letters, which may be a million, are left
// out.
/** Jobs that wait for a worker, at a gate, or for their workspace or app, by workspace; events without a number and waiting deliveries count too. */
export const countWaitingByWorkspace = statement(
  'jobs.countWaitingByWorkspace',
  `select workspace_id, count(*)::integer as waiting
   from (
     (
       select waiting.group_id::uuid as workspace_id
       from pgboss.queue as queue
       cross join lateral (
         select group_id from pgboss.job where name = queue.name and state < 'active' and not blocked and group_id is not null
         order by priority desc, created_on limit ${maxCounted}
       ) as waiting
       where queue.name <> '${deadLetterQueue}' limit ${maxCounted}
     )
     union all
     (select workspace_id from gated_jobs where slot is null limit ${maxCounted})
     union all
     (select workspace_id from deferred_jobs limit ${maxCounted})
     union all
     (select workspace_id from event_inbox limit ${maxCounted})
     union all
     (select workspace_id from waiting_deliveries limit ${maxCounted})
   ) as waiting
   group by workspace_id`,
  { params: {}, columns: { workspace_id: uuid.notNull, waiting: integer.notNull } },
)
