import { jobs } from '#shared/jobs.ts'
import { requeueDeferred } from '#shared/platform/due/defer-job.ts'
import { requeueDeferredJob } from '#shared/platform/jobs/deferred-jobs.ts'
import { definePlatformHandler } from '#workers/platform/jobs/handler.ts'

/** Requeues a deferred job when the cause of its waiting has ended. */
export default definePlatformHandler(requeueDeferred, async ({ payload: { workspaceId, jobId }, scope }) => {
  await scope.db.transaction((tx) => requeueDeferredJob(tx, scope.jobQueue, jobs, workspaceId, jobId))
  return { result: null }
})
