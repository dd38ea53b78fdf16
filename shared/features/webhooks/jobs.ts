import { defineJob, retryPolicies } from '#shared/platform/jobs/job.ts'
import { schema, t, uuid } from '#shared/platform/kernel/schema.ts'

/** Sends the deliveries of a webhook that are due, until none is left. */
export const sendDeliveriesJob = defineJob({
  name: 'webhooks.deliver',
  visible: ['workspaceId', 'webhookId'],
  // The webhook would wait for its run.
  cancel: 'refused',
  work: 'step',
  app: null,
  pool: 'webhooks',
  concurrency: 40,
  slotsPerWorkspace: 10,
  retry: retryPolicies.transient,
  timeoutSeconds: 600,
  tracked: false,
  payload: schema(t.Object({ workspaceId: uuid, webhookId: uuid })),
  result: schema(t.Null()),
})
