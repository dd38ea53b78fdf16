import type { Scope } from '#shared/core/scope/scope.ts'
import { requireFlow } from '#shared/features/flows/definitions/flows.ts'
import { continueRunJob } from '#shared/features/flows/jobs.ts'
import { flowLimits } from '#shared/features/flows/limits.ts'
import { getFlowRun } from '#shared/features/flows/runs/runs.ts'
import type { FlowRunView } from '#shared/features/flows/runs/schemas.ts'
import { runJobOrigin } from '#shared/features/flows/runs/start.ts'
import { cancelOpenRun, insertRetry } from '#shared/features/flows/runs/store.ts'
import { wakeNumbering } from '#shared/platform/events/announce.ts'
import { enqueueAll } from '#shared/platform/jobs/enqueue-all.ts'
import { tooManyFiled } from '#shared/platform/jobs/operations/filed-jobs.ts'
import { problem } from '#shared/platform/kernel/errors.ts'
import { newId } from '#shared/platform/kernel/ids.ts'
import { dayMs } from '#shared/platform/kernel/time/units.ts'

/**
 * Cancels a run at once: no further step runs, and the answer of a pending call is dropped. Throws NOT_FOUND, and VALIDATION_ERROR for a
 * run that has ended.
 */
export async function cancelRun(scope: Scope, flowId: string, runId: string): Promise<FlowRunView> {
  const { id, status } = await getFlowRun(scope, flowId, runId)
  const cause = JSON.stringify(scope.cause)
  const cancelled = await scope.db.query(cancelOpenRun({ workspaceId: scope.workspace.id, id, now: scope.now(), cause }))
  if (cancelled.length === 0) throw problem('VALIDATION_ERROR', `The run has ended as ${status}`)
  wakeNumbering(scope, 'soon')
  return getFlowRun(scope, flowId, runId)
}

/**
 * Continues a failed or cancelled run in a new run, which takes over the outputs of the finished steps and begins with the step at which
 * the old run ended. Throws NOT_FOUND, also when the flow is deleted, and VALIDATION_ERROR for a run that is open, ok, too old, or was
 * retried already, and RATE_LIMITED while too many filed runs wait.
 */
export async function retryRun(scope: Scope, flowId: string, runId: string): Promise<FlowRunView> {
  await requireFlow(scope, flowId)
  const run = await getFlowRun(scope, flowId, runId)
  if (run.status !== 'failed' && run.status !== 'cancelled')
    throw problem('VALIDATION_ERROR', `A run that is ${run.status} cannot be tried again`)
  const [id, jobId, now] = [newId(), newId(), scope.now()]
  const endedAfter = new Date(now.getTime() - flowLimits.retryDays * dayMs)
  await scope.db.transaction(async (tx) => {
    const caller = { requestId: scope.cause.requestId, personId: scope.actor.personId }
    const made = await tx.query(insertRetry({ ...caller, workspaceId: scope.workspace.id, oldId: run.id, id, jobId, now, endedAfter }))
    if (made.length === 0) {
      throw problem(
        'VALIDATION_ERROR',
        `The run ended more than ${flowLimits.retryDays} days ago: the outputs of its steps are no longer kept`,
      )
    }
    if (made[0]?.id === null) throw await tooManyFiled(tx, 'flow runs', continueRunJob.name)
    const origin = runJobOrigin(scope.workspace.id, id, scope.cause.jobId)
    await enqueueAll(scope.jobQueue, tx, continueRunJob, [{ id: jobId, origin, payload: { workspaceId: scope.workspace.id, runId: id } }])
  })
  return getFlowRun(scope, flowId, id)
}
