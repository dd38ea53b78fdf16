import { submissionRunEndedJob } from '#shared/features/forms/jobs.ts'
import { recordRunEnd } from '#shared/features/forms/process-submission.ts'
import { definePlatformHandler } from '#workers/core/scope/handler.ts'

export default definePlatformHandler(submissionRunEndedJob, async ({ payload, scope }) => {
  await recordRunEnd(scope, payload)
  return { result: null }
})
