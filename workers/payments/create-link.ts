import { createRequestedLink } from '#shared/payments/create-link.ts'
import { createLink } from '#shared/payments/jobs.ts'
import { handler } from '#workers/handler.ts'

/** How long an Idempotency-Key stands for its request, in milliseconds (decisions, Idempotency). */
const dayMs = 24 * 3_600_000

// A request without a key of its own is one of its kind: its job stands for it, however often it is tried.
export default handler(createLink, async ({ payload: { request, naturalKey }, scope, jobId }) => ({
  result: await createRequestedLink(scope, request, naturalKey ?? `job ${jobId}`, dayMs),
}))
