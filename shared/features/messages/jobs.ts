import { connectionView } from '#shared/features/messages/connections/schemas.ts'
import { defineJob, retryPolicies } from '#shared/platform/jobs/job.ts'
import { schema, t } from '#shared/platform/kernel/schema.ts'

/** Signs in at a connection's mail server and disconnects. Saves the result with the connection and returns the connection. */
export const testMessageConnectionJob = defineJob({
  name: 'messages.test-connection',
  visible: ['connectionId'],
  work: 'request',
  app: null,
  pool: 'mail',
  concurrency: 4,
  slotsPerWorkspace: 2,
  retry: retryPolicies.once,
  timeoutSeconds: 60,
  tracked: true,
  payload: schema(t.Object({ connectionId: t.String() })),
  result: connectionView,
})
