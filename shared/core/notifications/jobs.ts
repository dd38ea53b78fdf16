import { eventDelivery, visibleOfDelivery } from '#shared/platform/events/event-delivery.ts'
import { defineJob, retryPolicies } from '#shared/platform/jobs/job.ts'
import { schema, t } from '#shared/platform/kernel/schema.ts'

/** Adds an inbox item for every member of a workspace, per change and notification rule that subscribes to it. */
export const deliverNotificationsJob = defineJob({
  name: 'notifications.deliver',
  visible: visibleOfDelivery,
  work: 'step',
  app: null,
  pool: 'data',
  concurrency: 200,
  slotsPerWorkspace: 100,
  retry: retryPolicies.transient,
  timeoutSeconds: 300,
  tracked: false,
  payload: eventDelivery,
  result: schema(t.Null()),
})
