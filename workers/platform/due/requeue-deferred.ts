import { requeueDeferredJob } from '#shared/platform/due/defer-job.ts'
import { returnDeferredJob } from '#shared/platform/jobs/deferred-jobs.ts'
import type { AnyJob } from '#shared/platform/jobs/job.ts'
import { defineJobHandler } from '#workers/platform/jobs/handler.ts'

/** Returns a deferred job to its queue when its workspace is no longer suspended, or its app is on again. */
export const createRequeueHandler = (jobs: readonly AnyJob[]) =>
  defineJobHandler(requeueDeferredJob, async ({ payload: { workspaceId, jobId }, scope }) => {
    await scope.db.transaction((tx) => returnDeferredJob(tx, scope.jobQueue, jobs, workspaceId, jobId))
    return { result: null }
  })
