import type { Scope } from '#shared/core/scope/scope.ts'
import type { Queue } from '#shared/features/queues/definitions/schemas.ts'
import { actorColumns } from '#shared/platform/kernel/cause.ts'
import { toInstant } from '#shared/platform/kernel/time/instant.ts'

/** Parameters of every statement that writes a history entry of a queue: the queue, the time and the actor. */
export const changeParams = ({ workspace, cause, now }: Scope, { id }: Queue) => ({
  workspaceId: workspace.id,
  queueId: id,
  now: toInstant(now()),
  ...actorColumns(cause),
})

/** The same parameters of statements that also tell of the change in the list of events. */
export const announcedParams = (scope: Scope, queue: Queue) => ({
  ...changeParams(scope, queue),
  cause: JSON.stringify(scope.cause),
  objectType: queue.object_type,
})

/** Scan columns of a history entry. */
export interface ScanFacts {
  readonly scanId: string | null
  readonly scannedAt: string | null
  readonly station: string | null
}

/** The scan columns of entries that no scan made, and of scans that were judged at once. */
export const noScanFacts: ScanFacts = { scanId: null, scannedAt: null, station: null }
