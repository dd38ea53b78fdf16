import type { Executor } from '#shared/platform/db/database.ts'
import { asUnprepared, sql } from '#shared/platform/db/statements/statement.ts'

/** The most jobs of a queue that are counted, in the order in which they are fetched; later jobs are ignored. */
const maxCounted = 5_000

// Unprepared: a prepared statement keeps its first plan, and the table may be empty or full.
const find = sql(
  'find_crowded_queues',
  `select distinct group_id as "workspaceId"
   from unnest($1::text[]) as queue (name)
   cross join lateral (
     select group_id from pgboss.job
     where job.name = queue.name and job.state < 'active' and not job.blocked and job.start_after <= now()
     order by job.priority desc, job.created_on limit ${maxCounted}
   ) as job
   where group_id is not null
   group by queue.name, group_id
   having count(*) >= $2`,
)
/** Returns the ids of workspaces with at least `minJobs` due jobs in one of these queues. */
export async function findCrowdedWorkspaces(db: Executor, queues: readonly string[], minJobs: number): Promise<ReadonlySet<string>> {
  const rows = await db.query<{ workspaceId: string }>(asUnprepared(find(queues, minJobs)))
  return new Set(rows.map(({ workspaceId }) => workspaceId))
}
