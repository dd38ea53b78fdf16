import { findConnection } from '#shared/payments/account.ts'
import { actOnEvent } from '#shared/payments/events.ts'
import { handleEvent, tellSandbox } from '#shared/payments/jobs.ts'
import { tellOfPayment } from '#shared/payments/sandbox-pay.ts'
import { handler } from '#workers/handler.ts'

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
