import { connectionView } from '#shared/features/payments/connections/schemas.ts'
import { linkRequest, linkView } from '#shared/features/payments/links/schemas.ts'
import { defineJob, retryPolicies } from '#shared/platform/jobs/job.ts'
import { nullable, schema, t, uuid } from '#shared/platform/kernel/schema.ts'

/** Jobs that a caller waits for. Two attempts, each with several calls of the provider, fit into the minute that a caller waits. */
const requestJob = {
  work: 'request',
  app: 'payments',
  pool: 'flows',
  concurrency: 20,
  slotsPerWorkspace: 10,
  retry: retryPolicies.once,
  timeoutSeconds: 120,
  tracked: true,
} as const

/** Jobs without a waiting caller. */
const backgroundJob = { pool: 'flows', retry: retryPolicies.patient, tracked: false, result: schema(t.Null()) } as const

const linkId = schema(t.Object({ linkId: uuid }))
const connectionId = schema(t.Object({ connectionId: uuid }))

/** Creates a link at its provider. */
export const createLinkJob = defineJob({
  ...requestJob,
  name: 'payments.create-link',
  payload: schema(t.Object({ request: linkRequest, deduplicationKey: nullable(t.String()) })),
  result: linkView,
})

/** Cancels a link at its provider. */
export const cancelLinkJob = defineJob({
  ...requestJob,
  name: 'payments.cancel-link',
  visible: ['linkId'],
  payload: linkId,
  result: linkView,
})

/** Polls a provider for a link's state. */
export const refreshLinkJob = defineJob({
  ...requestJob,
  name: 'payments.refresh-link',
  visible: ['linkId'],
  payload: linkId,
  result: linkView,
})

/** Tests a connection's credentials at its provider. */
export const testPaymentConnectionJob = defineJob({
  ...requestJob,
  name: 'payments.test-connection',
  visible: ['connectionId'],
  payload: connectionId,
  result: connectionView,
})

/** Applies a stored provider event. */
export const handleEventJob = defineJob({
  ...backgroundJob,
  name: 'payments.event',
  visible: ['connectionId', 'eventKey'],
  cancel: 'refused',
  work: 'upkeep',
  app: null,
  concurrency: 50,
  slotsPerWorkspace: 25,
  timeoutSeconds: 60,
  payload: schema(t.Object({ connectionId: uuid, eventKey: t.String() })),
})

/** Lists the events of a connection's provider since the last sweep. */
export const sweepConnectionJob = defineJob({
  ...backgroundJob,
  name: 'payments.sweep',
  visible: ['connectionId'],
  work: 'upkeep',
  app: null,
  concurrency: 10,
  slotsPerWorkspace: 3,
  // The next sweep follows in five minutes.
  retry: retryPolicies.once,
  timeoutSeconds: 1_800,
  payload: connectionId,
})

/** Expires an overdue link, or ends a link at its provider that has already ended here. */
export const expireLinkJob = defineJob({
  ...backgroundJob,
  name: 'payments.expire-link',
  visible: ['linkId'],
  cancel: 'refused',
  work: 'due',
  app: 'payments',
  concurrency: 10,
  slotsPerWorkspace: 3,
  timeoutSeconds: 300,
  payload: linkId,
})

/** Cancels the open links of a deleted connection. */
export const endConnectionJob = defineJob({
  ...backgroundJob,
  name: 'payments.end-connection',
  visible: ['connectionId'],
  cancel: 'refused',
  work: 'upkeep',
  app: null,
  concurrency: 4,
  slotsPerWorkspace: 1,
  timeoutSeconds: 1_800,
  payload: connectionId,
})

/** Calls the webhook with what a payer did on the sandbox's pay page, as a provider does. */
export const deliverSandboxEventJob = defineJob({
  ...backgroundJob,
  name: 'payments.sandbox-deliver',
  visible: ['paymentId'],
  work: 'upkeep',
  app: null,
  concurrency: 10,
  timeoutSeconds: 60,
  payload: schema(t.Object({ paymentId: t.String() })),
})
