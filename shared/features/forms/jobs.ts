import { eventDelivery, visibleOfDelivery } from '#shared/platform/events/event-delivery.ts'
import { defineJob, retryPolicies } from '#shared/platform/jobs/job.ts'
import { schema, t, uuid } from '#shared/platform/kernel/schema.ts'

/** The name under which forms subscribe to the events of their submissions. */
export const formsSubscriber = 'forms'

const common = { pool: 'data', retry: retryPolicies.transient, timeoutSeconds: 60, tracked: false, result: schema(t.Null()) } as const

/** Processes submissions: creates a record for each and runs the form's function. */
export const processSubmissionsJob = defineJob({
  ...common,
  name: 'forms.follow',
  visible: visibleOfDelivery,
  work: 'step',
  app: null,
  concurrency: 8,
  slotsPerWorkspace: 4,
  payload: eventDelivery,
})

/** Records on a submission how its function ended. */
export const submissionRunEndedJob = defineJob({
  ...common,
  name: 'forms.run-ended',
  visible: ['workspaceId', 'formId', 'submissionId'],
  work: 'upkeep',
  app: null,
  concurrency: 4,
  payload: schema(t.Object({ workspaceId: uuid, formId: uuid, submissionId: uuid })),
})
