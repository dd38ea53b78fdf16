import type { Scope } from '#shared/core/scope/scope.ts'
import { recomputeRecordsJob } from '#shared/core/types/jobs.ts'
import type { RecordType } from '#shared/core/types/record-type.ts'
import type { Tx } from '#shared/platform/db/database.ts'

/**
 * Has a worker compute the computed fields of all records of a type, once the transaction commits. It is work of the platform itself, so
 * that it is done also when whoever changed the formula leaves the workspace meanwhile.
 */
export async function enqueueRecompute(
  { jobQueue, cause }: Pick<Scope, 'jobQueue' | 'cause'>,
  tx: Tx,
  { workspaceId, key }: RecordType,
): Promise<void> {
  const own = { ...cause, actorId: null, actorType: 'system' } as const
  await jobQueue.enqueue(tx, recomputeRecordsJob, { workspaceId, cause: own }, { typeKey: key })
}
