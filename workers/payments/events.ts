import { findConnection } from '#shared/payments/account.ts'
import { actOnEvent } from '#shared/payments/events.ts'
import { handleEvent, tellSandbox } from '#shared/payments/jobs.ts'
import { tellOfPayment } from '#shared/payments/sandbox-pay.ts'
import { handler } from '#workers/handler.ts'

/** Acts on an event that was written down. */
export const act = handler(handleEvent, async ({ payload: { connectionId, eventKey }, scope }) => {
  const connection = await findConnection(scope, connectionId)
  if (connection) await actOnEvent(scope, connection, eventKey)
  return { result: null }
})

/** Calls the webhook of this server as the sandbox. */
export const tell = handler(tellSandbox, async ({ payload, scope }) => {
  await tellOfPayment(scope, payload.paymentId)
  return { result: null }
})
