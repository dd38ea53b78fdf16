import { checkConnection } from '#shared/features/payments/connections/connections.ts'
import { endConnectionLinks } from '#shared/features/payments/connections/end-links.ts'
import { sweepProvider } from '#shared/features/payments/events/sweep.ts'
import { endConnectionJob, sweepConnectionJob, testPaymentConnectionJob } from '#shared/features/payments/jobs.ts'
import { defineHandler } from '#workers/core/scope/handler.ts'

/** Tests a connection's credentials. */
export const handleTestConnection = defineHandler(testPaymentConnectionJob, async ({ payload, scope }) => ({
  result: await checkConnection(scope, payload.connectionId),
}))

/** Reads the events that a provider has had since the last sweep. */
export const handleSweepConnection = defineHandler(sweepConnectionJob, async ({ payload, scope, signal }) => {
  await sweepProvider(scope, payload.connectionId, signal)
  return { result: null }
})

/** Cancels the open links of a deleted connection. */
export const handleEndConnection = defineHandler(endConnectionJob, async ({ payload, scope }) => {
  await endConnectionLinks(scope, payload.connectionId)
  return { result: null }
})
