import { deleteQueueContents } from '#shared/features/queues/definitions/queues.ts'
import { clearQueueJob } from '#shared/features/queues/jobs.ts'
import { definePlatformHandler } from '#workers/core/scope/handler.ts'

/** Runs as the platform: the contents are deleted even if the caller that deleted the queue has left or the workspace is suspended. */
export default definePlatformHandler(clearQueueJob, async ({ payload: { workspaceId, queueId }, scope }) => {
  await deleteQueueContents(scope, workspaceId, queueId)
  return { result: null }
})
