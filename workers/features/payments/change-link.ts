import { cancelLinkJob, expireLinkJob, refreshLinkJob } from '#shared/features/payments/jobs.ts'
import { cancelPaymentLink, expirePaymentLink, refreshPaymentLink } from '#shared/features/payments/links/change.ts'
import { defineHandler } from '#workers/core/scope/handler.ts'

/** Cancels a link at a caller's request. */
export const handleCancelLink = defineHandler(cancelLinkJob, async ({ payload, scope }) => ({
  result: await cancelPaymentLink(scope, payload.linkId),
}))

/** Asks the provider for a link's state, at a caller's request. */
export const handleRefreshLink = defineHandler(refreshLinkJob, async ({ payload, scope }) => ({
  result: await refreshPaymentLink(scope, payload.linkId),
}))

/** Expires a link when its time has come. */
export const handleExpireLink = defineHandler(expireLinkJob, async ({ payload, scope }) => {
  await expirePaymentLink(scope, payload.linkId)
  return { result: null }
})
