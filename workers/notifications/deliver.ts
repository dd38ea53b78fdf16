import { deliver } from '#shared/notifications/deliver.ts'
import { deliverNotifications } from '#shared/notifications/jobs.ts'
import { platformHandler } from '#workers/handler.ts'

// The platform does it, not whoever made the change: that one may have left the workspace since.
export default platformHandler(deliverNotifications, async ({ payload, scope }) => {
  await deliver(scope.db, payload)
  return { result: null }
})
