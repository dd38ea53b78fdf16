import { cleanJson } from '#shared/flows/clean.ts'
import { checked } from '#shared/flows/output.ts'
import { type Doing, errorOf, failedRow, parkedAt, resume, type StepRow } from '#shared/flows/play.ts'
import { blockOf, type Playing } from '#shared/flows/player.ts'
import type { ParkedFor } from '#shared/flows/playing.ts'
import type { RunError } from '#shared/flows/run.ts'
import { plainJsonOf } from '#shared/flows/template.ts'
import type { Invocation } from '#shared/functions/invocation.ts'
import type { ComputeBudget } from '#shared/kernel/compute-budget.ts'
import { problem } from '#shared/kernel/errors.ts'
import { findOperation, type Operation } from '#shared/queue/operations.ts'
import type { PlatformScope } from '#shared/scope/scope.ts'
import type { RealStage } from '#workers/flows/stage.ts'
import { endingMessages } from '#workers/functions/sandbox/outcome.ts'

/** How often a function is begun when its worker dies (decisions, Flows). */
const mostTries = 2

const lostTwice = 'The function was begun twice, and each time the worker that ran it was lost'

/** What a parked run waited for has come to pass: the row of its step; undefined when it has not, or when the run waits again or has ended. */
export async function endWait(
  scope: PlatformScope,
  waiting: ParkedFor,
  playing: Playing,
  stage: RealStage,
): Promise<readonly StepRow[] | undefined> {
  // The job that calls out writes down itself what it was answered.
  if (waiting.kind === 'call') return undefined
  const doing = parkedAt(playing, new Date(waiting.started_at))
  if (waiting.kind === 'time') return [await resume(playing, doing, {}, scope.now())]
  const operation = await findOperation(scope.db, waiting.operation)
  if (operation && operation.finished_at === null) return undefined
  if (isLost(operation) && waiting.tries < mostTries) {
    await againTo(doing, playing, stage, waiting.tries + 1)
    return undefined
  }
  if (!operation || isLost(operation) || operation.error) {
    // A lost worker is not the caller's fault, and its code says so.
    const { code, message } = operation?.error && !isLost(operation) ? operation.error : { code: 'INTERNAL', message: lostTwice }
    await failAt(playing, doing, stage, { code, message, node_id: doing.node.id }, scope.now())
    return undefined
  }
  return settle(scope, playing, doing, stage, async () => ({ result: await resultOf(operation, playing.budget) }))
}

/** Writes the row of a step that is over, or ends the run when `output` throws a refusal. */
export async function settle(
  { now }: Pick<PlatformScope, 'now'>,
  playing: Playing,
  doing: Doing,
  stage: RealStage,
  output: () => Promise<unknown>,
): Promise<readonly StepRow[] | undefined> {
  try {
    return [await resume(playing, doing, await output(), now())]
  } catch (error) {
    await failAt(playing, doing, stage, errorOf(error, doing.node.id), now())
    return undefined
  }
}

/** Ends a run at a step. */
export const failAt = (playing: Playing, doing: Doing, stage: RealStage, error: RunError, now: Date): Promise<void> =>
  stage.fail({ steps: [failedRow(doing, error, now)], state: playing.state }, error)

/** Begins the function of a step again. */
async function againTo(doing: Doing, playing: Playing, stage: RealStage, tries: number): Promise<void> {
  const { work } = blockOf(doing.node)
  try {
    if ('waits' in work)
      await stage.park(doing, await work.waits(doing.context, await stage.enter()), { steps: [], state: playing.state }, tries)
  } catch (error) {
    await failAt(playing, doing, stage, errorOf(error, doing.node.id), stage.now())
  }
}

/** Whether a function was interrupted, or given up with its worker. */
const isLost = (operation: Operation | undefined): boolean =>
  operation === undefined ||
  operation.error?.code === 'INTERNAL' ||
  (operation.result as Invocation | null)?.error === endingMessages.interrupted

/** What a function gave. Throws what it threw, as a refusal. */
async function resultOf({ result }: Operation, budget: ComputeBudget): Promise<unknown> {
  const invocation = result as Invocation
  if (invocation.error !== undefined) throw problem('VALIDATION_ERROR', `The function ended with: ${invocation.error}`)
  return checked(await cleanJson(await plainJsonOf(invocation.result, budget), budget), budget)
}
