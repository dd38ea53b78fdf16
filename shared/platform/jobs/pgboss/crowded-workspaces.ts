import type { Executor } from '#shared/platform/db/database.ts'
import { bigint, text, texts } from '#shared/platform/db/statements/sql-types.ts'
import { asUnprepared, statement } from '#shared/platform/db/statements/statement.ts'

/** The most jobs of a queue that are counted, in the order in which they are fetched; later jobs are ignored. */
const maxCounted = 5_000

// Unprepared: a prepared statement keeps its first plan, and the table may be empty or full.
const selectCrowdedWorkspaces = statement(
  'jobs.selectCrowdedWorkspaces',
  `select distinct group_id as "workspaceId"
   from unnest($queues::text[]) as queue (name)
   cross join lateral (
     select group_id from pgboss.job
     where job.name = queue.name and job.state < 'active' and not job.blocked and job.start_after <= now()
     order by job.priority desc, job.created_on limit ${maxCounted}
   ) as job
   where group_id is not null
   group by queue.name, group_id
   having count(*) >= $minJobs`,
  { params: { queues: texts, minJobs: bigint }, columns: { workspaceId: text } },
)
/** Returns the ids of workspaces with at least `minJobs` due jobs in one of these queues. */
export async function findCrowdedWorkspaces(db: Executor, queues: readonly string[], minJobs: number): Promise<ReadonlySet<string>> {
  const rows = await db.query(asUnprepared(selectCrowdedWorkspaces({ queues, minJobs })))
  return new Set(rows.map(({ workspaceId }) => workspaceId).filter((id) => id !== null))
}
