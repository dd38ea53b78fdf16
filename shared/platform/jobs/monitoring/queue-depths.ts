import type { Database } from '#shared/platform/db/database.ts'
import { sql } from '#shared/platform/db/statements/statement.ts'

/** How full a queue is. */
export interface QueueDepth {
  readonly job: string
  readonly waiting: number
  readonly running: number
  /** Since when the job that is next, in the queue or at its gate, has waited, in seconds; 0 when none is due. */
  readonly oldestSeconds: number
}

/** What is counted of changes to hand on, and of each gate's line; there may be more. */
const countedAtMost = 10_000

/** Changes of a suspended workspace wait for its end, and not for a worker. */
const isTaken = (workspace: string) => `(select status from workspaces where id = ${workspace}) is distinct from 'suspended'`

// The counts are those that pg-boss takes every few seconds, so asking costs the same with a million jobs as with none; the job that is
// next comes from the index by which it is fetched.
const depths = sql(
  'find_queue_depths',
  `select queue.name as job, queue.queued_count + coalesce(gated.waiting, 0) as waiting, queue.active_count as running,
     coalesce(extract(epoch from now() - least(next.created_on, gated.since)), 0)::float8 as "oldestSeconds"
   from pgboss.queue as queue
   left join lateral (
     select created_on from pgboss.job as job
     where job.name = queue.name and job.state < 'active' and not job.blocked and job.start_after <= now()
     order by priority desc, created_on limit 1
   ) as next on true
   left join (
     select queue, count(*)::integer as waiting, min(uuid_extract_timestamp(id)) as since
     from (select queue, id from gated_jobs where slot is null limit ${countedAtMost}) as line group by queue
   ) as gated on gated.queue = queue.name
   union all
   select 'events', (select count(*)::integer from (select from event_outbox where ${isTaken('workspace_id')} limit ${countedAtMost}) as counted), 0,
     coalesce(extract(epoch from now() - min(uuid_extract_timestamp(next.id))), 0)::float8
   from event_lines('00000000-0000-0000-0000-000000000000', ${countedAtMost}) as line
   cross join lateral (select id from event_outbox where workspace_id = line order by id limit 1) as next
   where ${isTaken('line')}`,
)
/** How full every queue is, some seconds ago at most; changes of records that wait to be handed on are the queue `events`. */
export const findQueueDepths = (db: Database): Promise<QueueDepth[]> => db.query<QueueDepth>(depths())
