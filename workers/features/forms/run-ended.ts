import { runEnded } from '#shared/features/forms/jobs.ts'
import { noteRunEnded } from '#shared/features/forms/process-submission.ts'
import { platformHandler } from '#workers/platform/jobs/handler.ts'

export default platformHandler(runEnded, async ({ payload, scope }) => {
  await noteRunEnded(scope, payload)
  return { result: null }
})
