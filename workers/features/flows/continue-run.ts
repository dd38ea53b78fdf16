import type { PlatformScope } from '#shared/core/scope/scope.ts'
import { executeRun } from '#shared/features/flows/execution/execute.ts'
import { findOpenRun, loadRunExecution } from '#shared/features/flows/execution/load.ts'
import type { FlowRunRow } from '#shared/features/flows/execution/store.ts'
import { continueRunJob, flowWaitDue } from '#shared/features/flows/jobs.ts'
import { flowDeletedError } from '#shared/features/flows/runs/schemas.ts'
import { maxDepthError } from '#shared/features/flows/runs/start.ts'
import { isOverloaded, partAwayOf } from '#shared/platform/db/database-errors.ts'
import { setDueIfUnset } from '#shared/platform/due/due-times.ts'
import { isSuspensionError } from '#shared/platform/kernel/background.ts'
import { maxCauseDepth } from '#shared/platform/kernel/cause.ts'
import { Problem } from '#shared/platform/kernel/errors.ts'
import { definePlatformHandler } from '#workers/core/scope/handler.ts'
import { createPersistentRunner, RunSuperseded } from '#workers/features/flows/persistent-runner.ts'
import { resolveWait } from '#workers/features/flows/resolve-wait.ts'

/**
 * Continues a run. The job runs as the platform; every step enters the workspace as the last editor of the flow when the run started.
 * If that person has left the workspace, the run fails, and the job ends without an error.
 */
export default definePlatformHandler(continueRunJob, async ({ payload: { workspaceId, runId }, scope, signal }) => {
  const run = await findOpenRun(scope, workspaceId, runId)
  if (run) await continueRun(scope, workspaceId, run, signal)
  return { result: null }
})

async function continueRun(scope: PlatformScope, workspaceId: string, run: FlowRunRow, signal: AbortSignal): Promise<void> {
  const until = run.waiting?.kind === 'time' ? new Date(run.waiting.until) : undefined
  // Parking set the due time. A job that comes too early sets it again in case it is missing.
  if (until && until > scope.now()) return setDueIfUnset(scope.db, flowWaitDue, workspaceId, [{ subject: run.id, at: until }])
  const runner = createPersistentRunner(scope, workspaceId, run, signal)
  const execution = await loadRunExecution(scope, workspaceId, run)
  await failRunOnFault(scope, workspaceId, run, signal, async () => {
    // The flow is deleted. That ended all of its runs except this one, which was created at the same moment.
    if (!execution) return runner.fail({ steps: [], state: null }, flowDeletedError)
    if (run.depth > maxCauseDepth) return runner.fail({ steps: [], state: execution.state }, maxDepthError)
    const rows = run.waiting ? await resolveWait(scope, run.waiting, execution, runner) : []
    if (rows) await executeRun(execution, runner, rows)
  })
}

/**
 * Runs `work` on a run. If another job has continued or ended the run, this job ends silently. OVERLOADED and the failure
 * of a part that is away are rethrown, so that the job is retried or waits; so is the error of a suspended workspace, so that the job is deferred, and any error after an abort. Any
 * other fault ends the run as failed with INTERNAL, since a retry would meet it again.
 */
export async function failRunOnFault(
  scope: PlatformScope,
  workspaceId: string,
  run: FlowRunRow,
  signal: AbortSignal,
  work: () => Promise<void>,
): Promise<void> {
  try {
    await work()
  } catch (error) {
    if (error instanceof RunSuperseded) return
    const isTemporary = isSuspensionError(error) || partAwayOf(error) !== undefined || isOverloaded(error)
    if (signal.aborted || isTemporary) throw error
    scope.log.error({ err: error, run_id: run.id, workspace_id: workspaceId }, 'a run of a flow failed by a fault of ours')
    const present = await findOpenRun(scope, workspaceId, run.id)
    const execution = present && (await loadRunExecution(scope, workspaceId, present))
    if (!present || !execution) return
    const { code, message } = new Problem('INTERNAL')
    await createPersistentRunner(scope, workspaceId, present, signal).fail(
      { steps: [], state: execution.state },
      { code, message, node_id: null },
    )
  }
}
