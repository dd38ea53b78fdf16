import type { Executor } from '#shared/platform/db/database.ts'
import { double, integer, type RowOf, text } from '#shared/platform/db/statements/sql-types.ts'
import { statement } from '#shared/platform/db/statements/statement.ts'
import { deadLetterQueue } from '#shared/platform/jobs/job.ts'

const columns = {
  job: text.notNull,
  waiting: integer.notNull,
  /** Of the waiting ones, those that wait for the time of another try. */
  delayed: integer.notNull,
  running: integer.notNull,
  /** Waiting time of the first job, in the queue, before its next try or at its gate, in seconds; 0 when none waits. */
  oldestSeconds: double.notNull,
}

/** Numbers of waiting and running jobs of a queue, and the age of the first one. */
export type QueueDepth = RowOf<typeof columns>

/** Upper bound of the counts of events without a number, of waiting deliveries and of jobs at gates; there may be more. */
const maxCounted = 10_000

/** Excludes suspended workspaces: their deliveries wait for the suspension's end, not for a worker. */
const isDispatched = (workspace: string) => `(select status from workspaces where id = ${workspace}) is distinct from 'suspended'`

/** SQL of the number of events without a number, up to `maxCounted`, and the time of the oldest: one look at the index for each workspace. */
export const inboxDepth = `select (select count(*)::integer from (select from event_inbox limit ${maxCounted}) as counted) as waiting,
       min(uuid_extract_timestamp(next.event_id)) as since
     from list_inbox_workspaces('00000000-0000-0000-0000-000000000000', ${maxCounted}) as line
     cross join lateral (select event_id from event_inbox where workspace_id = line order by id limit 1) as next`

// pg-boss updates the counts every few seconds, so the query costs the same with a million jobs as with none. The first job is read by the
// index that fetches use: no job has a priority, and only jobs that wait for another try start later than they were sent.
const selectQueueDepths = statement(
  'jobs.selectQueueDepths',
  `select queue.name as job, queue.queued_count + coalesce(gated.waiting, 0) as waiting, queue.deferred_count as delayed, queue.active_count as running,
     coalesce(extract(epoch from now() - least(next.created_on, gated.since)), 0)::float8 as "oldestSeconds"
   from pgboss.queue as queue
   left join lateral (
     select created_on from pgboss.job as job
     where job.name = queue.name and job.state < 'active' and not job.blocked
     order by priority desc, created_on limit 1
   ) as next on true
   left join (
     select queue, count(*)::integer as waiting, min(uuid_extract_timestamp(id)) as since
     from (select queue, id from gated_jobs where slot is null limit ${maxCounted}) as line group by queue
   ) as gated on gated.queue = queue.name
   where queue.name <> '${deadLetterQueue}'
   union all
   select 'events', inbox.waiting + deliveries.waiting, 0, 0,
     coalesce(extract(epoch from now() - least(inbox.since, deliveries.since)), 0)::float8
   from (
     ${inboxDepth}
   ) as inbox
   cross join (
     select (select count(*)::integer from (select from waiting_deliveries where ${isDispatched('workspace_id')} limit ${maxCounted}) as counted) as waiting,
       min(uuid_extract_timestamp(next.id)) as since
     from list_dispatch_workspaces('00000000-0000-0000-0000-000000000000', ${maxCounted}) as line
     cross join lateral (select id from waiting_deliveries where workspace_id = line order by id limit 1) as next
     where ${isDispatched('line')}
   ) as deliveries`,
  { params: {}, columns },
)
/** Reads the depth of every queue, at most some seconds old. Events without a number and waiting deliveries are the queue `events`; dead letters wait for nothing. */
export const findQueueDepths = (db: Executor): Promise<QueueDepth[]> => db.query(selectQueueDepths())
