import { cancelPaymentLink, expirePaymentLink, refreshPaymentLink } from '#shared/payments/change-link.ts'
import { cancelLink, expireLink, refreshLink } from '#shared/payments/jobs.ts'
import { handler } from '#workers/handler.ts'

/** Cancels a link that somebody wants cancelled. */
export const cancel = handler(cancelLink, async ({ payload, scope }) => ({ result: await cancelPaymentLink(scope, payload.linkId) }))

/** Asks a link's provider for somebody who waits for it. */
export const refresh = handler(refreshLink, async ({ payload, scope }) => ({ result: await refreshPaymentLink(scope, payload.linkId) }))

/** Ends a link that fell due. */
export const expire = handler(expireLink, async ({ payload, scope }) => {
  await expirePaymentLink(scope, payload.linkId)
  return { result: null }
})
