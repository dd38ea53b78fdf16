import type { Executor } from '#shared/platform/db/database.ts'
import { asUnprepared, sql } from '#shared/platform/db/statements/statement.ts'

// Planned each time, as in `crowded.ts`: the table is empty at one moment and full at another.
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
/** Those of these queues in which a job waits that may begin. */
export async function findDueQueues(db: Executor, queues: readonly string[]): Promise<readonly string[]> {
  return (await db.query<{ name: string }>(asUnprepared(find(queues)))).map(({ name }) => name)
}
