import type { Invocation } from '#shared/core/automation/schemas.ts'
import { toPlainJsonInSlices } from '#shared/core/automation/template.ts'
import type { PlatformScope } from '#shared/core/scope/scope.ts'
import {
  type ActiveStep,
  completeParkedStep,
  failRunAtStep,
  parkedStepOf,
  runErrorOf,
  type StepRow,
} from '#shared/features/flows/execution/execute.ts'
import { blockOf, type RunExecution } from '#shared/features/flows/execution/run-execution.ts'
import { checked, toStorableJson } from '#shared/features/flows/execution/step-output.ts'
import type { ParkedWait } from '#shared/features/flows/runs/schemas.ts'
import { findOperation, type Operation } from '#shared/platform/jobs/operations/operations.ts'
import { problem } from '#shared/platform/kernel/errors.ts'
import type { ComputeBudget } from '#shared/platform/kernel/process/compute-budget.ts'
import type { PersistentRunner } from '#workers/features/flows/persistent-runner.ts'
import { endingMessages } from '#workers/features/functions/sandbox/run-outcome.ts'

/** Maximum number of starts of a function whose worker is lost (docs/contract/flows.md#effects-once). */
const maxTries = 2

const lostTwice = 'The function was started twice, and each time the worker that ran it was lost'

/**
 * Completes the step at which a run waits and returns its row; undefined while the wait is not over, or when the run waits again or has
 * ended.
 */
export async function resolveWait(
  scope: PlatformScope,
  waiting: ParkedWait,
  execution: RunExecution,
  runner: PersistentRunner,
): Promise<readonly StepRow[] | undefined> {
  // The job that makes the call stores the answer itself.
  if (waiting.kind === 'call') return undefined
  const step = parkedStepOf(execution, new Date(waiting.started_at))
  if (waiting.kind === 'time') return [await completeParkedStep(execution, step, {}, scope.now())]
  const operation = await findOperation(scope.db, waiting.operation)
  if (operation && operation.finished_at === null) return undefined
  try {
    if (isLost(operation) && waiting.tries < maxTries) return await restartFunction(step, execution, runner, waiting.tries + 1)
    if (operation && !isLost(operation) && !operation.error)
      return [await completeParkedStep(execution, step, { result: await resultOf(operation, execution.budget) }, scope.now())]
  } catch (error) {
    await failRunAtStep(execution, step, runner, runErrorOf(error, step.node.id))
    return undefined
  }
  // INTERNAL: a lost worker is not the caller's fault.
  const { code, message } = operation?.error && !isLost(operation) ? operation.error : { code: 'INTERNAL', message: lostTwice }
  await failRunAtStep(execution, step, runner, { code, message, node_id: step.node.id })
  return undefined
}

/** Starts the function of a step again; `tries` counts this start. */
async function restartFunction(step: ActiveStep, execution: RunExecution, runner: PersistentRunner, tries: number): Promise<undefined> {
  const { work } = blockOf(step.node)
  if (!('waits' in work)) return undefined
  return runner.park(step, await work.waits(step.context, await runner.enter()), { steps: [], state: execution.state }, tries)
}

/** Whether a function's run was lost or interrupted with its worker. */
const isLost = (operation: Operation | undefined): boolean =>
  operation === undefined ||
  operation.error?.code === 'INTERNAL' ||
  (operation.result as Invocation | null)?.error === endingMessages.interrupted

/** Result of a function. Throws its error as VALIDATION_ERROR. */
async function resultOf({ result }: Operation, budget: ComputeBudget): Promise<unknown> {
  const invocation = result as Invocation
  if (invocation.error !== undefined) throw problem('VALIDATION_ERROR', `The function ended with: ${invocation.error}`)
  return checked(await toStorableJson(await toPlainJsonInSlices(invocation.result, budget), budget), budget)
}
