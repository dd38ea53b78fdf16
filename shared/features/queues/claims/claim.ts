import type { Scope } from '#shared/core/scope/scope.ts'
import { claimAnywhere, claimInStage } from '#shared/features/queues/claims/store.ts'
import { requireEnabled } from '#shared/features/queues/definitions/load.ts'
import { requireStage } from '#shared/features/queues/definitions/read-definition.ts'
import type { Queue } from '#shared/features/queues/definitions/schemas.ts'
import { withItemAccess } from '#shared/features/queues/items/item-access.ts'
import { type ClaimAnswer, type ClaimInput, viewOfItem } from '#shared/features/queues/items/schemas.ts'
import { claimCounter, claimExpiryCounter } from '#shared/features/queues/metrics.ts'
import { wakeNumbering } from '#shared/platform/events/announce.ts'
import { toInstant } from '#shared/platform/kernel/time/instant.ts'

/**
 * Claims open items that nobody else has claimed, for the caller and for the queue's lease; no two callers get the same item
 * (docs/contract/queues.md#claims). Each returned item has the token that proves its claim. Items hidden from the caller are skipped, and
 * so are terminal stages. Throws NOT_FOUND for an unknown stage, VALIDATION_ERROR for a disabled queue.
 */
export async function claimItems(scope: Scope, queue: Queue, { stage, count = 1 }: ClaimInput): Promise<ClaimAnswer> {
  requireEnabled(queue)
  const stages = stage == null ? queue.stages : [requireStage(queue, stage)]
  const waiting = stages.filter(({ kind }) => kind !== 'terminal').map(({ key }) => key)
  const { workspace, cause, now, db } = scope
  const claimedAt = now()
  const expiresAt = new Date(claimedAt.getTime() + queue.settings.lease_seconds * 1_000)
  const statement = stage == null ? claimAnywhere : claimInStage
  const parameters = {
    workspaceId: workspace.id,
    queueId: queue.id,
    stages: waiting,
    limit: count,
    now: toInstant(claimedAt),
    expiresAt: toInstant(expiresAt),
    claimerId: cause.actorId,
    claimerType: cause.actorType,
    cause: JSON.stringify(cause),
    objectType: queue.object_type,
  }
  const rows = await withItemAccess(scope, queue, (itemAccess) => db.query(statement(itemAccess, parameters)))
  if (rows.length > 0) wakeNumbering(scope, 'soon')
  claimCounter.inc(rows.length)
  claimExpiryCounter.inc(rows.filter(({ had_expired }) => had_expired).length)
  return {
    items: rows.map(({ claim_token, ...row }) => ({ ...viewOfItem(queue, row, claimedAt), claim_token: claim_token ?? '' })),
    claimed: rows.length,
  }
}
