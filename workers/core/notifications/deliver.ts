import { deliverNotices } from '#shared/core/notifications/deliver.ts'
import { deliverNotificationsJob } from '#shared/core/notifications/jobs.ts'
import type { EventDelivery } from '#shared/platform/events/event-delivery.ts'
import { createGroupedWork } from '#workers/platform/jobs/grouped-work.ts'
import { definePlatformHandler } from '#workers/platform/jobs/handler.ts'

// The platform does it, not whoever made the change: that one may have left the workspace since.
export default definePlatformHandler(deliverNotificationsJob, async ({ payload, scope }) => {
  await deliverLot(scope, payload)
  return { result: null }
})

const deliverLot = createGroupedWork<EventDelivery>(
  ({ workspaceId }) => workspaceId,
  (scope, lot, workspaceId) => deliverNotices(scope, workspaceId, lot),
)
