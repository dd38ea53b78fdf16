import { findConnection } from '#shared/features/payments/connections/open.ts'
import { actOnEvent } from '#shared/features/payments/events/events.ts'
import { handleEvent, tellSandbox } from '#shared/features/payments/jobs.ts'
import { tellOfPayment } from '#shared/features/payments/sandbox-pay.ts'
import { handler } from '#workers/platform/jobs/handler.ts'

/** Applies a stored event. */
export const act = handler(handleEvent, async ({ payload: { connectionId, eventKey }, scope }) => {
  const connection = await findConnection(scope, connectionId)
  if (connection) await actOnEvent(scope, connection, eventKey)
  return { result: null }
})

/** Calls this server's webhook on behalf of the sandbox. */
export const tell = handler(tellSandbox, async ({ payload, scope }) => {
  await tellOfPayment(scope, payload.paymentId)
  return { result: null }
})
