import type { PlatformScope } from '#shared/access/scope.ts'
import type { HeardChanges } from '#shared/events/change.ts'
import { dispatchChanges } from '#shared/events/jobs.ts'
import { enqueueAll, type Filing } from '#shared/queue/enqueue-all.ts'
import type { JobDefinition } from '#shared/queue/job.ts'
import { type Part, planOf } from '#workers/events/plan.ts'
import { platformHandler } from '#workers/handler.ts'
import { inLots } from '#workers/lots.ts'
import { chainsCut } from '#workers/metrics.ts'
import { subscriptions } from '#workers/subscriptions.ts'

/** A subscriber's job that waits to be filed. */
interface Filed extends Filing<HeardChanges> {
  readonly job: JobDefinition<HeardChanges, unknown>
}

/**
 * One dispatch becomes one job for each subscriber. Each is filed under the dispatch's own id, in its own queue: when a dispatch is done
 * again, its jobs are there already. The platform does it, since whoever made the change may have left the workspace.
 */
export default platformHandler(dispatchChanges, async ({ payload, scope, jobId }) => {
  const parts = planOf(payload, scope.cause, subscriptions)
  for (const part of parts) if (part.isCut) recordCut(scope, part)
  const { workspaceId } = payload
  await file(
    scope,
    parts
      .filter(({ isCut }) => !isCut)
      .map(({ subscription, cause, changes }) => ({ id: jobId, job: subscription.job, origin: { workspaceId, cause }, payload: changes })),
  )
  return { result: null }
})

/** Filed one by one, a worker hands on 1,300 changes a second; together 9,600. */
const file = inLots<readonly Filed[]>(async ({ db, queue }, lot) => {
  const byJob = Map.groupBy(lot.flat(), ({ job }) => job)
  for (const [job, filings] of byJob) await enqueueAll(queue, db, job, filings)
})

function recordCut({ log, cause }: PlatformScope, { subscriber, changes: { workspaceId, objectType, event } }: Part): void {
  chainsCut.inc({ subscriber })
  log.warn(
    { request_id: cause.requestId, workspace_id: workspaceId, object_type: objectType, event, subscriber, depth: cause.depth },
    'a chain of automations was cut: it is taken for a loop',
  )
}
