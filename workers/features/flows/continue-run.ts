import type { PlatformScope } from '#shared/core/scope/scope.ts'
import { executeRun } from '#shared/features/flows/execution/execute.ts'
import { type FlowRunRow, findOpenRun, loadRunExecution } from '#shared/features/flows/execution/load.ts'
import { continueRunJob, flowWaitDue } from '#shared/features/flows/jobs.ts'
import { flowDeletedError } from '#shared/features/flows/runs/schemas.ts'
import { maxDepthError } from '#shared/features/flows/runs/start.ts'
import { isDatabaseFull, isDatabaseUnavailable, isOverloaded } from '#shared/platform/db/database-errors.ts'
import { setDueIfUnset } from '#shared/platform/due/due-times.ts'
import { isSuspensionError } from '#shared/platform/kernel/background.ts'
import { maxCauseDepth } from '#shared/platform/kernel/cause.ts'
import { Problem } from '#shared/platform/kernel/errors.ts'
import { createPersistentRunner, RunSuperseded } from '#workers/features/flows/persistent-runner.ts'
import { resolveWait } from '#workers/features/flows/resolve-wait.ts'
import { definePlatformHandler } from '#workers/platform/jobs/handler.ts'

/** The platform goes on with a run, and enters as its editor at every step: that one may have left since, which is a result to write down. */
export default definePlatformHandler(continueRunJob, async ({ payload: { workspaceId, runId }, scope, signal }) => {
  const run = await findOpenRun(scope, workspaceId, runId)
  if (run) await goOn(scope, workspaceId, run, signal)
  return { result: null }
})

async function goOn(scope: PlatformScope, workspaceId: string, run: FlowRunRow, signal: AbortSignal): Promise<void> {
  const until = run.waiting?.kind === 'time' ? new Date(run.waiting.until) : undefined
  // Its time was set when it was parked; whoever comes before that leaves one behind in any case.
  if (until && until > scope.now()) return setDueIfUnset(scope.db, flowWaitDue, workspaceId, [{ subject: run.id, at: until }])
  const stage = createPersistentRunner(scope, workspaceId, run, signal)
  const playing = await loadRunExecution(scope, workspaceId, run)
  // Whoever deletes a flow ends its runs: this one was made at the same moment.
  if (!playing) return failRunOnFault(scope, workspaceId, run, signal, () => stage.fail({ steps: [], state: null }, flowDeletedError))
  await failRunOnFault(scope, workspaceId, run, signal, async () => {
    if (run.depth > maxCauseDepth) return stage.fail({ steps: [], state: playing.state }, maxDepthError)
    const rows = run.waiting ? await resolveWait(scope, run.waiting, playing, stage) : []
    if (rows) await executeRun(playing, stage, rows)
  })
}

/**
 * Does work on a run. Who was overtaken leaves quietly. A fault of the database, or OVERLOADED, is thrown on, so that the job is tried again, and so is the
 * suspension of its workspace, so that it rests; any other fault is ours, and ends the run: it would fail again.
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
    const passes = isSuspensionError(error) || isDatabaseUnavailable(error) || isDatabaseFull(error) || isOverloaded(error)
    if (signal.aborted || passes) throw error
    scope.log.error({ err: error, run_id: run.id, workspace_id: workspaceId }, 'a run of a flow failed by a fault of ours')
    const present = await findOpenRun(scope, workspaceId, run.id)
    const playing = present && (await loadRunExecution(scope, workspaceId, present))
    if (!present || !playing) return
    const { code, message } = new Problem('INTERNAL')
    await createPersistentRunner(scope, workspaceId, present, signal).fail(
      { steps: [], state: playing.state },
      { code, message, node_id: null },
    )
  }
}
