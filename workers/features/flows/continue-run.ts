import type { PlatformScope } from '#shared/core/scope/scope.ts'
import { play } from '#shared/features/flows/execution/execute.ts'
import { findOpenRun, playingOf, type RunRow } from '#shared/features/flows/execution/load.ts'
import { continueRun, waitsDue } from '#shared/features/flows/jobs.ts'
import { flowDeleted } from '#shared/features/flows/runs/schemas.ts'
import { tooDeep } from '#shared/features/flows/runs/start.ts'
import { isOutOfReach, isOutOfRoom, isOverloaded } from '#shared/platform/db/database-errors.ts'
import { setDueUnlessSet } from '#shared/platform/due/due-times.ts'
import { isSuspension } from '#shared/platform/kernel/background.ts'
import { maxDepth } from '#shared/platform/kernel/cause.ts'
import { Problem } from '#shared/platform/kernel/errors.ts'
import { Overtaken, realStage } from '#workers/features/flows/persistent-runner.ts'
import { endWait } from '#workers/features/flows/resolve-wait.ts'
import { platformHandler } from '#workers/platform/jobs/handler.ts'

/** The platform goes on with a run, and enters as its editor at every step: that one may have left since, which is a result to write down. */
export default platformHandler(continueRun, async ({ payload: { workspaceId, runId }, scope, signal }) => {
  const run = await findOpenRun(scope, workspaceId, runId)
  if (run) await goOn(scope, workspaceId, run, signal)
  return { result: null }
})

async function goOn(scope: PlatformScope, workspaceId: string, run: RunRow, signal: AbortSignal): Promise<void> {
  const until = run.waiting?.kind === 'time' ? new Date(run.waiting.until) : undefined
  // Its time was set when it was parked; whoever comes before that leaves one behind in any case.
  if (until && until > scope.now()) return setDueUnlessSet(scope.db, waitsDue, workspaceId, [{ subject: run.id, at: until }])
  const stage = realStage(scope, workspaceId, run, signal)
  const playing = await playingOf(scope, workspaceId, run)
  // Whoever deletes a flow ends its runs: this one was made at the same moment.
  if (!playing) return writingDown(scope, workspaceId, run, signal, () => stage.fail({ steps: [], state: null }, flowDeleted))
  await writingDown(scope, workspaceId, run, signal, async () => {
    if (run.depth > maxDepth) return stage.fail({ steps: [], state: playing.state }, tooDeep)
    const rows = run.waiting ? await endWait(scope, run.waiting, playing, stage) : []
    if (rows) await play(playing, stage, rows)
  })
}

/**
 * Does work on a run. Who was overtaken leaves quietly. A fault of the database, or OVERLOADED, is thrown on, so that the job is tried again, and so is the
 * suspension of its workspace, so that it rests; any other fault is ours, and ends the run: it would fail again.
 */
export async function writingDown(
  scope: PlatformScope,
  workspaceId: string,
  run: RunRow,
  signal: AbortSignal,
  work: () => Promise<void>,
): Promise<void> {
  try {
    await work()
  } catch (error) {
    if (error instanceof Overtaken) return
    const passes = isSuspension(error) || isOutOfReach(error) || isOutOfRoom(error) || isOverloaded(error)
    if (signal.aborted || passes) throw error
    scope.log.error({ err: error, run_id: run.id, workspace_id: workspaceId }, 'a run of a flow failed by a fault of ours')
    const present = await findOpenRun(scope, workspaceId, run.id)
    const playing = present && (await playingOf(scope, workspaceId, present))
    if (!present || !playing) return
    const { code, message } = new Problem('INTERNAL')
    await realStage(scope, workspaceId, present, signal).fail({ steps: [], state: playing.state }, { code, message, node_id: null })
  }
}
