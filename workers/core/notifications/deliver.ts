import { deliver } from '#shared/core/notifications/deliver.ts'
import { deliverNotifications } from '#shared/core/notifications/jobs.ts'
import type { HeardChanges } from '#shared/platform/events/event-delivery.ts'
import { inLots } from '#workers/platform/jobs/grouped-work.ts'
import { platformHandler } from '#workers/platform/jobs/handler.ts'

// The platform does it, not whoever made the change: that one may have left the workspace since.
export default platformHandler(deliverNotifications, async ({ payload, scope }) => {
  await deliverLot(scope, payload)
  return { result: null }
})

const deliverLot = inLots<HeardChanges>(
  ({ workspaceId }) => workspaceId,
  (scope, lot, workspaceId) => deliver(scope, workspaceId, lot),
)
