import { mailReset } from '#shared/core/people/jobs.ts'
import { startReset } from '#shared/core/people/password-reset.ts'
import { platformHandler } from '#workers/platform/jobs/handler.ts'

export default platformHandler(mailReset, async ({ payload, scope, jobId }) => {
  await startReset(scope, payload.email, jobId)
  return { result: null }
})
