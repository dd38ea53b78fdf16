import type { PlatformScope } from '#shared/core/scope/scope.ts'
import {
  type ActiveStep,
  completeParkedStep,
  executeRun,
  parkedStepOf,
  requireBlockApp,
  runErrorOf,
} from '#shared/features/flows/execution/execute.ts'
import { type FlowRunRow, findOpenRun, loadRunExecution } from '#shared/features/flows/execution/load.ts'
import { blockOf, type RunExecution } from '#shared/features/flows/execution/run-execution.ts'
import { callOutJob } from '#shared/features/flows/jobs.ts'
import type { RunError } from '#shared/features/flows/runs/schemas.ts'
import { EgressFailure } from '#shared/platform/egress/failure.ts'
import { failRunOnFault } from '#workers/features/flows/continue-run.ts'
import { createPersistentRunner } from '#workers/features/flows/persistent-runner.ts'
import { failRunAtStep } from '#workers/features/flows/resolve-wait.ts'
import { definePlatformHandler } from '#workers/platform/jobs/handler.ts'

/** No transaction and no connection is held while the other side is waited for. What it answers to a run that has ended is dropped. */
export default definePlatformHandler(callOutJob, async ({ payload: { workspaceId, runId, turn }, scope, signal }) => {
  const run = await findOpenRun(scope, workspaceId, runId)
  const isMine = run?.waiting?.kind === 'call' && run.turn === turn
  if (run && isMine) await failRunOnFault(scope, workspaceId, run, signal, () => callFor(scope, workspaceId, run, signal))
  return { result: null }
})

async function callFor(scope: PlatformScope, workspaceId: string, run: FlowRunRow, signal: AbortSignal): Promise<void> {
  const playing = await loadRunExecution(scope, workspaceId, run)
  if (!playing) return
  const doing = parkedStepOf(playing, new Date(run.waiting?.started_at ?? scope.now()))
  const answered = await answerOf(scope, workspaceId, run, doing, signal)
  const stage = createPersistentRunner(scope, workspaceId, run, signal)
  if ('refused' in answered) await failRunAtStep(playing, doing, stage, answered.refused, scope.now())
  else await playOn(playing, doing, stage, answered.output, scope.now())
}

const playOn = async (
  playing: RunExecution,
  doing: ActiveStep,
  stage: ReturnType<typeof createPersistentRunner>,
  output: unknown,
  now: Date,
): Promise<void> => executeRun(playing, stage, [await completeParkedStep(playing, doing, output, now)])

type Answered = { readonly output: unknown } | { readonly refused: RunError }

async function answerOf(
  scope: PlatformScope,
  workspaceId: string,
  run: FlowRunRow,
  doing: ActiveStep,
  signal: AbortSignal,
): Promise<Answered> {
  try {
    const block = blockOf(doing.node)
    const { work } = block
    if (!('calls' in work)) throw new Error(`${doing.node.type} calls nobody`)
    const inside = requireBlockApp(await createPersistentRunner(scope, workspaceId, run, signal).enter(), block)
    return { output: await work.calls(doing.context, inside, signal) }
  } catch (error) {
    if (error instanceof EgressFailure) return { refused: refusalOf(error, doing.node.id) }
    return { refused: runErrorOf(error, doing.node.id) }
  }
}

/** What may be tried again elsewhere has another code than what will be refused again. */
const refusalOf = ({ reason, message }: EgressFailure, nodeId: string): RunError => ({
  code: reason === 'refused' || reason === 'too_large' ? 'VALIDATION_ERROR' : 'DATASOURCE_ERROR',
  message,
  node_id: nodeId,
})
