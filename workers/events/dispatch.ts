import { dispatchChanges } from '#shared/events/jobs.ts'
import { planOf } from '#workers/events/plan.ts'
import { platformHandler } from '#workers/handler.ts'
import { chainsCut } from '#workers/metrics.ts'
import { subscriptions } from '#workers/subscriptions.ts'

/**
 * One dispatch becomes one job for each subscriber. Each is filed under the dispatch's own id, in its own queue: when a dispatch is done
 * again, its jobs are there already. The platform does it, since whoever made the change may have left the workspace.
 */
export default platformHandler(dispatchChanges, async ({ payload, scope, jobId }) => {
  const parts = planOf(payload, scope.cause, subscriptions)
  for (const { subscriber } of parts.filter(({ isCut }) => isCut)) {
    const { objectType, event, workspaceId } = payload
    scope.log.warn(
      {
        request_id: scope.cause.requestId,
        workspace_id: workspaceId,
        object_type: objectType,
        event,
        subscriber,
        depth: scope.cause.depth,
      },
      'a chain of automations was cut: it is taken for a loop',
    )
    chainsCut.inc({ subscriber })
  }
  const { workspaceId } = payload
  await scope.db.transaction(async (tx) => {
    for (const { subscription, changes, cause } of parts.filter(({ isCut }) => !isCut)) {
      await scope.queue.enqueue(tx, subscription.job, { workspaceId, cause }, changes, { id: jobId })
    }
  })
  return { result: null }
})
