import { wakeJob } from '#shared/due/rest.ts'
import { jobs } from '#shared/jobs.ts'
import { fileAgain } from '#shared/queue/resting.ts'
import { platformHandler } from '#workers/handler.ts'

export default platformHandler(wakeJob, async ({ payload: { workspaceId, jobId }, scope }) => {
  await scope.db.transaction((tx) => fileAgain(tx, scope.queue, jobs, workspaceId, jobId))
  return { result: null }
})
