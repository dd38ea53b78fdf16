import type { Tx } from '#shared/platform/db/database.ts'
import { jsonb, text, uuid } from '#shared/platform/db/statements/sql-types.ts'
import { statement } from '#shared/platform/db/statements/statement.ts'
import type { AnyJob, JobEnvelope } from '#shared/platform/jobs/job.ts'
import type { JobQueue } from '#shared/platform/jobs/job-queue.ts'

const deleteDeferred = statement(
  'jobs.deleteDeferred',
  'delete from deferred_jobs where workspace_id = $workspaceId and id = $id returning queue, envelope',
  { params: { workspaceId: uuid, id: uuid }, columns: { queue: text.notNull, envelope: jsonb.as<JobEnvelope>().notNull } },
)
/**
 * Sends a deferred job to its queue again, under its own id and with its full number of attempts. Does nothing when it was requeued
 * already.
 */
export async function returnDeferredJob(tx: Tx, queue: JobQueue, jobs: readonly AnyJob[], workspaceId: string, id: string): Promise<void> {
  const [deferred] = await tx.query(deleteDeferred({ workspaceId, id }))
  if (!deferred) return
  await queue.send(tx, jobs.find(({ name }) => name === deferred.queue) ?? { name: deferred.queue }, id, deferred.envelope)
}
