import { nullable, schema, t } from '#shared/kernel/schema.ts'
import { connectionView } from '#shared/payments/connection.ts'
import { linkRequest, linkView } from '#shared/payments/link.ts'
import { defineJob, retry } from '#shared/queue/job.ts'

/** What somebody waits for: two attempts, of which each may call the provider several times, fit into the minute that a caller waits. */
const asked = {
  work: 'request',
  app: 'payments',
  pool: 'flows',
  concurrency: 20,
  slotsPerWorkspace: 10,
  retry: retry.once,
  timeoutSeconds: 120,
  tracked: true,
} as const

/** What goes on by itself. */
const unasked = { pool: 'flows', retry: retry.patient, tracked: false, result: schema(t.Null()) } as const

const linkId = schema(t.Object({ linkId: t.String({ format: 'uuid' }) }))
const connectionId = schema(t.Object({ connectionId: t.String({ format: 'uuid' }) }))

/** Makes a link at its provider. */
export const createLink = defineJob({
  ...asked,
  name: 'payments.create-link',
  kind: 'payments.create-link',
  payload: schema(t.Object({ request: linkRequest, naturalKey: nullable(t.String()) })),
  result: linkView,
})

/** Cancels a link at its provider. */
export const cancelLink = defineJob({
  ...asked,
  name: 'payments.cancel-link',
  kind: 'payments.cancel-link',
  payload: linkId,
  result: linkView,
})

/** Asks a provider what has become of a link. */
export const refreshLink = defineJob({
  ...asked,
  name: 'payments.refresh-link',
  kind: 'payments.refresh-link',
  payload: linkId,
  result: linkView,
})

/** Asks a provider whether it takes a connection's credentials. */
export const testPaymentConnection = defineJob({
  ...asked,
  name: 'payments.test-connection',
  kind: 'payments.test-connection',
  payload: connectionId,
  result: connectionView,
})

/** Acts on what a provider told. */
export const handleEvent = defineJob({
  ...unasked,
  name: 'payments.event',
  kind: 'payments.event',
  work: 'upkeep',
  app: null,
  concurrency: 50,
  slotsPerWorkspace: 25,
  timeoutSeconds: 60,
  payload: schema(t.Object({ connectionId: t.String({ format: 'uuid' }), eventKey: t.String() })),
})

/** Asks a connection's provider what happened since it was last asked. */
export const sweepConnection = defineJob({
  ...unasked,
  name: 'payments.sweep',
  kind: 'payments.sweep',
  work: 'upkeep',
  app: null,
  concurrency: 10,
  slotsPerWorkspace: 3,
  // It comes again in five minutes anyway.
  retry: retry.once,
  timeoutSeconds: 1_800,
  payload: connectionId,
})

/** Ends a link whose time is up, or that has ended here and not yet at its provider. */
export const expireLink = defineJob({
  ...unasked,
  name: 'payments.expire-link',
  kind: 'payments.expire-link',
  work: 'due',
  app: 'payments',
  concurrency: 10,
  slotsPerWorkspace: 3,
  timeoutSeconds: 300,
  payload: linkId,
})

/** Cancels the open links of a connection that was deleted. */
export const endConnection = defineJob({
  ...unasked,
  name: 'payments.end-connection',
  kind: 'payments.end-connection',
  work: 'upkeep',
  app: null,
  concurrency: 4,
  slotsPerWorkspace: 1,
  timeoutSeconds: 1_800,
  payload: connectionId,
})

/** Tells of what a payer did on the sandbox's page, as a provider does: by calling the webhook. */
export const tellSandbox = defineJob({
  ...unasked,
  name: 'payments.sandbox-tell',
  kind: 'payments.sandbox-tell',
  work: 'upkeep',
  app: null,
  concurrency: 10,
  timeoutSeconds: 60,
  payload: schema(t.Object({ paymentId: t.String() })),
})
