import { checkConnection } from '#shared/features/payments/connections/check.ts'
import { endLinksOf } from '#shared/features/payments/connections/end-links.ts'
import { sweepProvider } from '#shared/features/payments/events/sweep.ts'
import { endConnection, sweepConnection, testPaymentConnection } from '#shared/features/payments/jobs.ts'
import { handler } from '#workers/platform/jobs/handler.ts'

/** Tests a connection's credentials. */
export const test = handler(testPaymentConnection, async ({ payload, scope }) => ({
  result: await checkConnection(scope, payload.connectionId),
}))

/** Lists a provider's events since the last sweep. */
export const sweep = handler(sweepConnection, async ({ payload, scope, signal }) => {
  await sweepProvider(scope, payload.connectionId, signal)
  return { result: null }
})

/** Cancels the open links of a deleted connection. */
export const end = handler(endConnection, async ({ payload, scope }) => {
  await endLinksOf(scope, payload.connectionId)
  return { result: null }
})
