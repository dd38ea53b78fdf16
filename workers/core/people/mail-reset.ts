import { mailResetJob } from '#shared/core/people/jobs.ts'
import { mailResetToken } from '#shared/core/people/password-reset.ts'
import { definePlatformHandler } from '#workers/core/scope/handler.ts'

export default definePlatformHandler(mailResetJob, async ({ payload, scope, jobId }) => {
  await mailResetToken(scope, payload.email, jobId)
  return { result: null }
})
