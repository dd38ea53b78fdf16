import { deleteQueueContents } from '#shared/features/queues/definitions/clear.ts'
import { clearQueue } from '#shared/features/queues/jobs.ts'
import { definePlatformHandler } from '#workers/platform/jobs/handler.ts'

/** Whoever deleted the queue may have left, and the workspace be suspended: what is hidden goes all the same. */
export default definePlatformHandler(clearQueue, async ({ payload: { workspaceId, queueId }, scope }) => {
  await deleteQueueContents(scope.db, workspaceId, queueId)
  return { result: null }
})
