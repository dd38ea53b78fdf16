import type { PlatformScope } from '#shared/core/scope/scope.ts'
import { type Doing, errorOf, parkedAt, play, resume, withBlock } from '#shared/features/flows/execution/execute.ts'
import { findOpenRun, playingOf, type RunRow } from '#shared/features/flows/execution/load.ts'
import { blockOf, type Playing } from '#shared/features/flows/execution/run-execution.ts'
import { callOut } from '#shared/features/flows/jobs.ts'
import type { RunError } from '#shared/features/flows/runs/schemas.ts'
import { EgressFailure } from '#shared/platform/egress/failure.ts'
import { writingDown } from '#workers/features/flows/continue-run.ts'
import { realStage } from '#workers/features/flows/persistent-runner.ts'
import { failAt } from '#workers/features/flows/resolve-wait.ts'
import { platformHandler } from '#workers/platform/jobs/handler.ts'

/** No transaction and no connection is held while the other side is waited for. What it answers to a run that has ended is dropped. */
export default platformHandler(callOut, async ({ payload: { workspaceId, runId, turn }, scope, signal }) => {
  const run = await findOpenRun(scope, workspaceId, runId)
  const isMine = run?.waiting?.kind === 'call' && run.turn === turn
  if (run && isMine) await writingDown(scope, workspaceId, run, signal, () => callFor(scope, workspaceId, run, signal))
  return { result: null }
})

async function callFor(scope: PlatformScope, workspaceId: string, run: RunRow, signal: AbortSignal): Promise<void> {
  const playing = await playingOf(scope, workspaceId, run)
  if (!playing) return
  const doing = parkedAt(playing, new Date(run.waiting?.started_at ?? scope.now()))
  const answered = await answerOf(scope, workspaceId, run, doing, signal)
  const stage = realStage(scope, workspaceId, run, signal)
  if ('refused' in answered) await failAt(playing, doing, stage, answered.refused, scope.now())
  else await playOn(playing, doing, stage, answered.output, scope.now())
}

const playOn = async (playing: Playing, doing: Doing, stage: ReturnType<typeof realStage>, output: unknown, now: Date): Promise<void> =>
  play(playing, stage, [await resume(playing, doing, output, now)])

type Answered = { readonly output: unknown } | { readonly refused: RunError }

async function answerOf(scope: PlatformScope, workspaceId: string, run: RunRow, doing: Doing, signal: AbortSignal): Promise<Answered> {
  try {
    const block = blockOf(doing.node)
    const { work } = block
    if (!('calls' in work)) throw new Error(`${doing.node.type} calls nobody`)
    const inside = withBlock(await realStage(scope, workspaceId, run, signal).enter(), block)
    return { output: await work.calls(doing.context, inside, signal) }
  } catch (error) {
    if (error instanceof EgressFailure) return { refused: refusalOf(error, doing.node.id) }
    return { refused: errorOf(error, doing.node.id) }
  }
}

/** What may be tried again elsewhere has another code than what will be refused again. */
const refusalOf = ({ reason, message }: EgressFailure, nodeId: string): RunError => ({
  code: reason === 'refused' || reason === 'too_large' ? 'VALIDATION_ERROR' : 'DATASOURCE_ERROR',
  message,
  node_id: nodeId,
})
