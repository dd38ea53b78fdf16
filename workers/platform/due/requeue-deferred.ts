import { jobs } from '#shared/jobs.ts'
import { wakeJob } from '#shared/platform/due/defer-job.ts'
import { fileAgain } from '#shared/platform/jobs/deferred-jobs.ts'
import { platformHandler } from '#workers/platform/jobs/handler.ts'

export default platformHandler(wakeJob, async ({ payload: { workspaceId, jobId }, scope }) => {
  await scope.db.transaction((tx) => fileAgain(tx, scope.queue, jobs, workspaceId, jobId))
  return { result: null }
})
