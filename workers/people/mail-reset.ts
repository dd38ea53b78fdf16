import { mailReset } from '#shared/people/jobs.ts'
import { startReset } from '#shared/people/password-reset.ts'
import { platformHandler } from '#workers/handler.ts'

export default platformHandler(mailReset, async ({ payload, scope, jobId }) => {
  await startReset(scope, payload.email, jobId)
  return { result: null }
})
