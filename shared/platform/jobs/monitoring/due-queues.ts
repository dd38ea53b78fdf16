import type { Executor } from '#shared/platform/db/database.ts'
import { asUnprepared, sql } from '#shared/platform/db/statements/statement.ts'

// Unprepared, as in `crowded-workspaces.ts`: the table may be empty or full, and each needs its own plan.
const find = sql(
  'find_due_queues',
  `select queue.name
   from unnest($1::text[]) as queue (name)
   cross join lateral (
     select from pgboss.job
     where job.name = queue.name and job.state < 'active' and not job.blocked and job.start_after <= now()
     limit 1
   ) as job`,
)
/** Returns those of `queues` that have a job due to start. */
export async function findDueQueues(db: Executor, queues: readonly string[]): Promise<readonly string[]> {
  return (await db.query<{ name: string }>(asUnprepared(find(queues)))).map(({ name }) => name)
}
