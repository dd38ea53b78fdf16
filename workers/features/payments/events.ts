import { findConnection } from '#shared/features/payments/connections/open.ts'
import { applyEvent } from '#shared/features/payments/events/events.ts'
import { deliverSandboxEventJob, handleEventJob } from '#shared/features/payments/jobs.ts'
import { sendPaymentWebhook } from '#shared/features/payments/sandbox-pay.ts'
import { defineHandler } from '#workers/core/scope/handler.ts'

/** Applies a stored event of a provider. */
export const handleProviderEvent = defineHandler(handleEventJob, async ({ payload: { connectionId, eventKey }, scope }) => {
  const connection = await findConnection(scope, connectionId)
  if (connection) await applyEvent(scope, connection, eventKey)
  return { result: null }
})

/** Sends an event of the sandbox provider to this server's webhook. */
export const sendSandboxEvent = defineHandler(deliverSandboxEventJob, async ({ payload, scope }) => {
  await sendPaymentWebhook(scope, payload.paymentId)
  return { result: null }
})
