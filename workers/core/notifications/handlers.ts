import type { feature } from '#shared/core/notifications/feature.ts'
import deliverNotifications from '#workers/core/notifications/deliver.ts'
import type { HandlersOf } from '#workers/platform/jobs/handler.ts'

export const handlers = {
  deliverNotifications,
} satisfies HandlersOf<typeof feature.jobs>
