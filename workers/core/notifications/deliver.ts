import { deliverNotices } from '#shared/core/notifications/deliver.ts'
import { deliverNotificationsJob } from '#shared/core/notifications/jobs.ts'
import type { EventDelivery } from '#shared/platform/events/event-delivery.ts'
import { createGroupedWork } from '#workers/core/notifications/grouped-work.ts'
import { definePlatformHandler } from '#workers/core/scope/handler.ts'

// Runs as the platform, since the author of the change may have left the workspace.
export default definePlatformHandler(deliverNotificationsJob, async ({ payload, scope }) => {
  await deliverGrouped(scope, payload)
  return { result: null }
})

const deliverGrouped = createGroupedWork<EventDelivery>(
  ({ workspaceId }) => workspaceId,
  (scope, deliveries, workspaceId) => deliverNotices(scope, workspaceId, deliveries),
)
