import { createLinkJob } from '#shared/features/payments/jobs.ts'
import { createRequestedLink } from '#shared/features/payments/links/create.ts'
import { dayMs } from '#shared/platform/kernel/time/units.ts'
import { defineHandler } from '#workers/core/scope/handler.ts'

/** Lifetime of an Idempotency-Key in milliseconds (docs/contract/payments.md#creating-a-link). */
const keyLifetimeMs = dayMs

// A request without an Idempotency-Key uses the job's id as its key, so that retries of the job create one link.
export default defineHandler(createLinkJob, async ({ payload: { request, deduplicationKey }, scope, jobId }) => ({
  result: await createRequestedLink(scope, request, deduplicationKey ?? `job ${jobId}`, keyLifetimeMs),
}))
