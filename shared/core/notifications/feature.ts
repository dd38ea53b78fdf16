import type { Feature } from '#shared/core/automation/feature.ts'
import { deliverNotificationsJob } from '#shared/core/notifications/jobs.ts'
import { notificationSubscriber } from '#shared/core/notifications/rules.ts'

export const feature = {
  jobs: { deliverNotifications: deliverNotificationsJob },
  subscriptions: { [notificationSubscriber]: { job: deliverNotificationsJob, continues: false, snapshots: true } },
} satisfies Feature
