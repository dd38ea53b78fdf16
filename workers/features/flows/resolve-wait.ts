import type { Invocation } from '#shared/core/automation/invocation.ts'
import { toPlainJsonInSlices } from '#shared/core/automation/template.ts'
import type { PlatformScope } from '#shared/core/scope/scope.ts'
import {
  type ActiveStep,
  completeParkedStep,
  failedStepRow,
  parkedStepOf,
  runErrorOf,
  type StepRow,
} from '#shared/features/flows/execution/execute.ts'
import type { ParkedWait } from '#shared/features/flows/execution/load.ts'
import { checked } from '#shared/features/flows/execution/output-size.ts'
import { blockOf, type RunExecution } from '#shared/features/flows/execution/run-execution.ts'
import { toStorableJson } from '#shared/features/flows/execution/storable-json.ts'
import type { RunError } from '#shared/features/flows/runs/schemas.ts'
import { findOperation, type Operation } from '#shared/platform/jobs/operations/operations.ts'
import { problem } from '#shared/platform/kernel/errors.ts'
import type { ComputeBudget } from '#shared/platform/kernel/process/compute-budget.ts'
import type { PersistentRunner } from '#workers/features/flows/persistent-runner.ts'
import { endingMessages } from '#workers/features/functions/sandbox/run-outcome.ts'

/** How often a function is begun when its worker dies (decisions, Flows). */
const mostTries = 2

const lostTwice = 'The function was begun twice, and each time the worker that ran it was lost'

/** What a parked run waited for has come to pass: the row of its step; undefined when it has not, or when the run waits again or has ended. */
export async function resolveWait(
  scope: PlatformScope,
  waiting: ParkedWait,
  playing: RunExecution,
  stage: PersistentRunner,
): Promise<readonly StepRow[] | undefined> {
  // The job that calls out writes down itself what it was answered.
  if (waiting.kind === 'call') return undefined
  const doing = parkedStepOf(playing, new Date(waiting.started_at))
  if (waiting.kind === 'time') return [await completeParkedStep(playing, doing, {}, scope.now())]
  const operation = await findOperation(scope.db, waiting.operation)
  if (operation && operation.finished_at === null) return undefined
  if (isLost(operation) && waiting.tries < mostTries) {
    await againTo(doing, playing, stage, waiting.tries + 1)
    return undefined
  }
  if (!operation || isLost(operation) || operation.error) {
    // A lost worker is not the caller's fault, and its code says so.
    const { code, message } = operation?.error && !isLost(operation) ? operation.error : { code: 'INTERNAL', message: lostTwice }
    await failRunAtStep(playing, doing, stage, { code, message, node_id: doing.node.id }, scope.now())
    return undefined
  }
  return completeOrFailStep(scope, playing, doing, stage, async () => ({ result: await resultOf(operation, playing.budget) }))
}

/** Writes the row of a step that is over, or ends the run when `output` throws a refusal. */
export async function completeOrFailStep(
  { now }: Pick<PlatformScope, 'now'>,
  playing: RunExecution,
  doing: ActiveStep,
  stage: PersistentRunner,
  output: () => Promise<unknown>,
): Promise<readonly StepRow[] | undefined> {
  try {
    return [await completeParkedStep(playing, doing, await output(), now())]
  } catch (error) {
    await failRunAtStep(playing, doing, stage, runErrorOf(error, doing.node.id), now())
    return undefined
  }
}

/** Ends a run at a step. */
export const failRunAtStep = (
  playing: RunExecution,
  doing: ActiveStep,
  stage: PersistentRunner,
  error: RunError,
  now: Date,
): Promise<void> => stage.fail({ steps: [failedStepRow(doing, error, now)], state: playing.state }, error)

/** Begins the function of a step again. */
async function againTo(doing: ActiveStep, playing: RunExecution, stage: PersistentRunner, tries: number): Promise<void> {
  const { work } = blockOf(doing.node)
  try {
    if ('waits' in work)
      await stage.park(doing, await work.waits(doing.context, await stage.enter()), { steps: [], state: playing.state }, tries)
  } catch (error) {
    await failRunAtStep(playing, doing, stage, runErrorOf(error, doing.node.id), stage.now())
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
  return checked(await toStorableJson(await toPlainJsonInSlices(invocation.result, budget), budget), budget)
}
