import type { Scope } from '#shared/core/scope/scope.ts'
import { requireFlowId } from '#shared/features/flows/definitions/flows.ts'
import { continueRunJob } from '#shared/features/flows/jobs.ts'
import { flowLimits } from '#shared/features/flows/limits.ts'
import { getFlowRun } from '#shared/features/flows/runs/runs.ts'
import type { FlowRunView } from '#shared/features/flows/runs/schemas.ts'
import { runJobOrigin } from '#shared/features/flows/runs/start.ts'
import { cancelOpenRun, insertRetry } from '#shared/features/flows/runs/store.ts'
import { enqueueAll } from '#shared/platform/jobs/enqueue-all.ts'
import { problem } from '#shared/platform/kernel/errors.ts'
import { newId } from '#shared/platform/kernel/ids.ts'

/**
 * Ends a run at once: nothing of it runs from then on, and what a call that is under way answers is dropped. Throws NOT_FOUND, and
 * VALIDATION_ERROR for one that has ended.
 */
export async function cancelRun(scope: Scope, flowId: string, runId: string): Promise<FlowRunView> {
  const { id, status } = await getFlowRun(scope, flowId, runId)
  const cancelled = await scope.db.query(cancelOpenRun(scope.workspace.id, id, scope.now()))
  if (cancelled.length === 0) throw problem('VALIDATION_ERROR', `The run has ended as ${status}`)
  return getFlowRun(scope, flowId, runId)
}

/**
 * Goes on with a run that failed or was cancelled, in a new run that has what its steps gave and begins with the one that it ended at. Throws
 * NOT_FOUND, also when the flow is gone, and VALIDATION_ERROR for one that is open, went well, is too old, or was tried again already.
 */
export async function retryRun(scope: Scope, flowId: string, runId: string): Promise<FlowRunView> {
  await requireFlowId(scope, flowId)
  const run = await getFlowRun(scope, flowId, runId)
  if (run.status !== 'failed' && run.status !== 'cancelled')
    throw problem('VALIDATION_ERROR', `A run that is ${run.status} cannot be tried again`)
  const [id, jobId, now] = [newId(), newId(), scope.now()]
  const kept = new Date(now.getTime() - flowLimits.retryDays * 86_400_000)
  await scope.db.transaction(async (tx) => {
    const values = [scope.workspace.id, run.id, id, jobId, now, kept, scope.cause.requestId, scope.actor.personId] as const
    const made = await tx.query(insertRetry(...values))
    if (made.length === 0) {
      throw problem('VALIDATION_ERROR', `The run ended more than ${flowLimits.retryDays} days ago: what its steps gave is no longer kept`)
    }
    const origin = runJobOrigin(scope.workspace.id, id)
    await enqueueAll(scope.jobQueue, tx, continueRunJob, [{ id: jobId, origin, payload: { workspaceId: scope.workspace.id, runId: id } }])
  })
  return getFlowRun(scope, flowId, id)
}
