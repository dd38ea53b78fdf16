import type { Executor } from '#shared/platform/db/database.ts'
import { text, texts } from '#shared/platform/db/statements/sql-types.ts'
import { asUnprepared, statement } from '#shared/platform/db/statements/statement.ts'

// Unprepared, as in `crowded-workspaces.ts`: the table may be empty or full, and each needs its own plan.
const selectDueQueues = statement(
  'jobs.selectDueQueues',
  `select queue.name
   from unnest($queues::text[]) as queue (name)
   cross join lateral (
     select from pgboss.job
     where job.name = queue.name and job.state < 'active' and not job.blocked and job.start_after <= now()
     limit 1
   ) as job`,
  { params: { queues: texts }, columns: { name: text.notNull } },
)
/** Returns those of `queues` that have a job due to start. */
export async function findDueQueues(db: Executor, queues: readonly string[]): Promise<readonly string[]> {
  return (await db.query(asUnprepared(selectDueQueues({ queues })))).map(({ name }) => name)
}
