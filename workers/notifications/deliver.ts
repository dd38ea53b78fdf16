import type { HeardChanges } from '#shared/events/change.ts'
import { deliver } from '#shared/notifications/deliver.ts'
import { deliverNotifications } from '#shared/notifications/jobs.ts'
import { platformHandler } from '#workers/handler.ts'
import { inLots } from '#workers/lots.ts'

// The platform does it, not whoever made the change: that one may have left the workspace since.
export default platformHandler(deliverNotifications, async ({ payload, scope }) => {
  await deliverLot(scope, payload)
  return { result: null }
})

const deliverLot = inLots<HeardChanges>(
  ({ workspaceId }) => workspaceId,
  (scope, lot, workspaceId) => deliver(scope, workspaceId, lot),
)
