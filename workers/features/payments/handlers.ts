import { checkConnection } from '#shared/features/payments/connections/connections.ts'
import { endConnectionLinks } from '#shared/features/payments/connections/end-links.ts'
import { findConnection } from '#shared/features/payments/connections/open.ts'
import { applyEvent } from '#shared/features/payments/events/events.ts'
import { sweepProvider } from '#shared/features/payments/events/sweep.ts'
import type { feature } from '#shared/features/payments/feature.ts'
import {
  cancelLinkJob,
  createLinkJob,
  deliverSandboxEventJob,
  endConnectionJob,
  expireLinkJob,
  handleEventJob,
  refreshLinkJob,
  sweepConnectionJob,
  testPaymentConnectionJob,
} from '#shared/features/payments/jobs.ts'
import { cancelPaymentLink, expirePaymentLink, refreshPaymentLink } from '#shared/features/payments/links/change.ts'
import { createRequestedLink } from '#shared/features/payments/links/create.ts'
import { sendPaymentWebhook } from '#shared/features/payments/sandbox-pay.ts'
import { dayMs } from '#shared/platform/kernel/time/units.ts'
import { defineHandler } from '#workers/core/scope/handler.ts'
import type { HandlersOf } from '#workers/platform/jobs/handler.ts'

/** Lifetime of an Idempotency-Key in milliseconds (docs/contract/payments.md#creating-a-link). */
const keyLifetimeMs = dayMs

export const handlers = {
  // A request without an Idempotency-Key uses the job's id as its key, so that retries of the job create one link.
  createLink: defineHandler(createLinkJob, async ({ payload: { request, deduplicationKey }, scope, jobId }) => ({
    result: await createRequestedLink(scope, request, deduplicationKey ?? `job ${jobId}`, keyLifetimeMs),
  })),
  cancelLink: defineHandler(cancelLinkJob, async ({ payload, scope }) => ({ result: await cancelPaymentLink(scope, payload.linkId) })),
  refreshLink: defineHandler(refreshLinkJob, async ({ payload, scope }) => ({ result: await refreshPaymentLink(scope, payload.linkId) })),
  expireLink: defineHandler(expireLinkJob, async ({ payload, scope }) => {
    await expirePaymentLink(scope, payload.linkId)
    return { result: null }
  }),
  testConnection: defineHandler(testPaymentConnectionJob, async ({ payload, scope }) => ({
    result: await checkConnection(scope, payload.connectionId),
  })),
  sweepConnection: defineHandler(sweepConnectionJob, async ({ payload, scope, signal }) => {
    await sweepProvider(scope, payload.connectionId, signal)
    return { result: null }
  }),
  endConnection: defineHandler(endConnectionJob, async ({ payload, scope }) => {
    await endConnectionLinks(scope, payload.connectionId)
    return { result: null }
  }),
  handleEvent: defineHandler(handleEventJob, async ({ payload: { connectionId, eventKey }, scope }) => {
    const connection = await findConnection(scope, connectionId)
    if (connection) await applyEvent(scope, connection, eventKey)
    return { result: null }
  }),
  deliverSandboxEvent: defineHandler(deliverSandboxEventJob, async ({ payload, scope }) => {
    await sendPaymentWebhook(scope, payload.paymentId)
    return { result: null }
  }),
} satisfies HandlersOf<typeof feature.jobs>
