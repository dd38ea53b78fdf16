import type { Executor } from '#shared/db/database.ts'
import { problem } from '#shared/kernel/errors.ts'
import type { Queue } from '#shared/queue/queue.ts'

/**
 * Settles operations whose job is over without having settled them: its last worker was killed, or somebody cancelled it. Their callers
 * hear of a failure instead of waiting for ever.
 */
export async function settleAbandoned(db: Executor, queue: Queue): Promise<void> {
  const settled = await db.query<{ id: string }>({
    text: `
      update operations as operation
      set status = 'failed', error = $1::json, finished_at = now()
      where operation.finished_at is null
        and operation.created_at < now() - interval '15 seconds'
        and not exists (
          select from pgboss.job as job
          where job.name = operation.job and job.id = operation.id and job.state in ('created', 'retry', 'active')
        )
        and not exists (select from gated_jobs as job where job.id = operation.id and job.slot is null)
      returning operation.id`,
    values: [JSON.stringify(problem('INTERNAL', 'The work was given up after its last attempt').toJSON())],
  })
  for (const { id } of settled) db.afterCommit(() => queue.signals.settled(id))
}
