import type { Executor } from '#shared/platform/db/database.ts'
import { asUnprepared, sql } from '#shared/platform/db/statements/statement.ts'

/** Jobs of a queue that are looked at, those that are next; whose the others are is not told. */
const lookedAt = 5_000

// A prepared one would keep the plan of the moment at which it was made, and the table is empty at one and full at another.
const find = sql(
  'find_crowded_queues',
  `select distinct group_id as "workspaceId"
   from unnest($1::text[]) as queue (name)
   cross join lateral (
     select group_id from pgboss.job
     where job.name = queue.name and job.state < 'active' and not job.blocked and job.start_after <= now()
     order by job.priority desc, job.created_on limit ${lookedAt}
   ) as job
   where group_id is not null
   group by queue.name, group_id
   having count(*) >= $2`,
)
/** The workspaces that have so many jobs waiting in one of these queues. */
export async function findCrowdedWorkspaces(db: Executor, queues: readonly string[], jobs: number): Promise<ReadonlySet<string>> {
  const rows = await db.query<{ workspaceId: string }>(asUnprepared(find(queues, jobs)))
  return new Set(rows.map(({ workspaceId }) => workspaceId))
}
