import type { Executor } from '#shared/platform/db/database.ts'
import { sql } from '#shared/platform/db/statements/statement.ts'
import { deadLetterQueue, type JobDefinition } from '#shared/platform/jobs/job.ts'
import type { JobOrigin, JobQueue } from '#shared/platform/jobs/job-queue.ts'
import { reopenOperation } from '#shared/platform/jobs/operations/operations.ts'

const clear = sql(
  'clear_ended_job',
  `delete from pgboss.job where (name = $1 and id = $2) or (name = $3 and (source_id = $2 or data ->> 'operationId' = $2::text))`,
)

/**
 * Retries a failed operation under the same id, so that earlier progress is found by its id and checkpoint. For operations that failed
 * through a fault of the platform. Returns false when the operation has not failed.
 */
export async function retryOperation<Payload>(
  db: Executor,
  queue: JobQueue,
  job: JobDefinition<Payload, unknown>,
  operationId: string,
  { workspaceId, cause }: JobOrigin,
  payload: NoInfer<Payload>,
): Promise<boolean> {
  return db.transaction(async (tx) => {
    if (!(await reopenOperation(tx, operationId, operationId))) return false
    await tx.query(clear(job.name, operationId, deadLetterQueue))
    await queue.send(tx, job, operationId, { workspaceId, cause, payload: job.payload.parse(payload, 'payload') })
    return true
  })
}
