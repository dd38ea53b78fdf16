import { clearQueueOf } from '#shared/features/queues/definitions/clear.ts'
import { clearQueue } from '#shared/features/queues/jobs.ts'
import { platformHandler } from '#workers/platform/jobs/handler.ts'

/** Whoever deleted the queue may have left, and the workspace be suspended: what is hidden goes all the same. */
export default platformHandler(clearQueue, async ({ payload: { workspaceId, queueId }, scope }) => {
  await clearQueueOf(scope.db, workspaceId, queueId)
  return { result: null }
})
