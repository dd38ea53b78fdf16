import type { Scope } from '#shared/core/scope/scope.ts'
import { recomputeRecordsJob } from '#shared/core/types/jobs.ts'
import type { RecordType } from '#shared/core/types/record-type.ts'
import type { Tx } from '#shared/platform/db/database.ts'

/**
 * Enqueues the recompute of all records of a type; a worker runs it after the transaction commits. The job runs as the system, so it also
 * runs when the user who changed the formula has left the workspace.
 */
export async function enqueueRecompute(
  { jobQueue, cause }: Pick<Scope, 'jobQueue' | 'cause'>,
  tx: Tx,
  { workspaceId, key }: RecordType,
): Promise<void> {
  const systemCause = { ...cause, actorId: null, actorType: 'system' } as const
  await jobQueue.enqueue(tx, recomputeRecordsJob, { workspaceId, cause: systemCause }, { typeKey: key })
}
