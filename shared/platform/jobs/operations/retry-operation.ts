import type { Executor } from '#shared/platform/db/database.ts'
import type { JobDefinition } from '#shared/platform/jobs/job.ts'
import type { JobOrigin, JobQueue } from '#shared/platform/jobs/job-queue.ts'
import { reopenOperation } from '#shared/platform/jobs/operations/operations.ts'
import { deleteEndedJob } from '#shared/platform/jobs/pgboss/ended-jobs.ts'

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
    await deleteEndedJob(tx, job.name, operationId)
    await queue.send(tx, job, operationId, { workspaceId, cause, payload: job.payload.parse(payload, 'payload') })
    return true
  })
}
