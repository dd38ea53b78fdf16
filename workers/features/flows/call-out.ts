import type { PlatformScope } from '#shared/core/scope/scope.ts'
import {
  type ActiveStep,
  completeParkedStep,
  executeRun,
  failRunAtStep,
  parkedStepOf,
  requireBlockApp,
  runErrorOf,
} from '#shared/features/flows/execution/execute.ts'
import { findOpenRun, loadRunExecution } from '#shared/features/flows/execution/load.ts'
import { blockOf } from '#shared/features/flows/execution/run-execution.ts'
import type { FlowRunRow } from '#shared/features/flows/execution/store.ts'
import { callOutJob } from '#shared/features/flows/jobs.ts'
import type { RunError } from '#shared/features/flows/runs/schemas.ts'
import { EgressFailure } from '#shared/platform/egress/failure.ts'
import { definePlatformHandler } from '#workers/core/scope/handler.ts'
import { failRunOnFault } from '#workers/features/flows/continue-run.ts'
import { createPersistentRunner } from '#workers/features/flows/persistent-runner.ts'

/**
 * Makes the outside call of a step, without holding a transaction or a connection meanwhile. The answer is dropped when the run has ended.
 */
export default definePlatformHandler(callOutJob, async ({ payload: { workspaceId, runId, revision }, scope, signal }) => {
  const run = await findOpenRun(scope, workspaceId, runId)
  const isMine = run?.waiting?.kind === 'call' && run.revision === revision
  if (run && isMine) await failRunOnFault(scope, workspaceId, run, signal, () => callFor(scope, workspaceId, run, signal))
  return { result: null }
})

async function callFor(scope: PlatformScope, workspaceId: string, run: FlowRunRow, signal: AbortSignal): Promise<void> {
  const execution = await loadRunExecution(scope, workspaceId, run)
  if (!execution) return
  const step = parkedStepOf(execution, new Date(run.waiting?.started_at ?? scope.now()))
  const outcome = await answerOf(scope, workspaceId, run, step, signal)
  // A new runner, since the time of the call does not count towards its time slice.
  const runner = createPersistentRunner(scope, workspaceId, run, signal)
  // The run waits; `reviveRuns` files its call again when the copy is live.
  if (outcome === 'held') return
  if ('refused' in outcome) return failRunAtStep(execution, step, runner, outcome.refused)
  await executeRun(execution, runner, [await completeParkedStep(execution, step, outcome.output, scope.now())])
}

type CallOutcome = { readonly output: unknown } | { readonly refused: RunError } | 'held'

async function answerOf(
  scope: PlatformScope,
  workspaceId: string,
  run: FlowRunRow,
  step: ActiveStep,
  signal: AbortSignal,
): Promise<CallOutcome> {
  try {
    const block = blockOf(step.node)
    const { work } = block
    if (!('calls' in work)) throw new Error(`${step.node.type} calls nobody`)
    const inside = requireBlockApp(await createPersistentRunner(scope, workspaceId, run, signal).enter(), block)
    return { output: await work.calls(step.context, inside, signal) }
  } catch (error) {
    if (error instanceof EgressFailure && error.reason === 'held') return 'held'
    if (error instanceof EgressFailure) return { refused: refusalOf(error, step.node.id) }
    return { refused: runErrorOf(error, step.node.id) }
  }
}

/** DATASOURCE_ERROR for a failure that a retry may overcome, VALIDATION_ERROR for a call that would be refused again. */
const refusalOf = ({ reason, message }: EgressFailure, nodeId: string): RunError => ({
  code: reason === 'refused' || reason === 'too_large' ? 'VALIDATION_ERROR' : 'DATASOURCE_ERROR',
  message,
  node_id: nodeId,
})
