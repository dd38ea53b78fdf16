import { eventDelivery } from '#shared/platform/events/event-delivery.ts'
import { defineJob, retryPolicies } from '#shared/platform/jobs/job.ts'
import { schema, t } from '#shared/platform/kernel/schema.ts'

/** Puts the items of changes into the inboxes of a workspace's members, for the rules that listened to them. */
export const deliverNotificationsJob = defineJob({
  name: 'notifications.deliver',
  kind: 'notifications.deliver',
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
