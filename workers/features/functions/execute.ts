import type { Invocation } from '#shared/core/automation/schemas.ts'
import type { Scope } from '#shared/core/scope/scope.ts'
import { functionDisabledProblem, getFunction } from '#shared/features/functions/definitions/functions.ts'
import type { FunctionView } from '#shared/features/functions/definitions/schemas.ts'
import { functionLimits } from '#shared/features/functions/limits.ts'
import { saveFunctionRun } from '#shared/features/functions/runs/runs.ts'
import { inAttempts } from '#shared/platform/db/attempts.ts'
import { readVerified } from '#shared/platform/db/cache/read-verified.ts'
import type { Verification } from '#shared/platform/db/cache/verification.ts'
import type { Executor } from '#shared/platform/db/database.ts'
import { retryUntilAvailable } from '#shared/platform/db/retry-until-available.ts'
import { requireNotHalted } from '#shared/platform/kernel/background.ts'
import { causedBy } from '#shared/platform/kernel/cause.ts'
import { problem } from '#shared/platform/kernel/errors.ts'
import { newId } from '#shared/platform/kernel/ids.ts'
import { createSemaphore } from '#shared/platform/kernel/process/semaphore.ts'
import { addToFigure } from '#shared/platform/kernel/process/work-figures.ts'
import type { FunctionRunners } from '#workers/features/functions/function-runners.ts'
import { createSecretRedactor, type RunQueued, type SecretRedactor } from '#workers/features/functions/redact-secrets.ts'
import { buildRunResult, type ExecutionRequest, type RunResult } from '#workers/features/functions/run-result.ts'
import { enterRun } from '#workers/features/functions/run-rights.ts'
import type { SdkCall } from '#workers/features/functions/sandbox/run-outcome.ts'

/**
 * Runs a function for the scope's caller; errors that the function throws are part of the result. Throws NOT_FOUND, and VALIDATION_ERROR
 * when the function is disabled or its input is too large.
 */
export async function executeFunction(scope: Scope, order: ExecutionRequest, runners: FunctionRunners): Promise<RunResult> {
  const { functionId, inputText, depth, signal } = order
  // A run that has been taken up is never restarted, so it waits here while the database is overloaded.
  const known = await retryUntilAvailable(signal, () => getFunction(scope, functionId))
  if (!known.enabled) throw functionDisabledProblem()
  const secrets = createSecretRedactor()
  const call = sdkOf(scope, order, known, runners, secrets)
  const { source, timeout_ms } = known
  const request = {
    owner: scope.workspace.share_id,
    source,
    inputText,
    timeoutMs: timeout_ms,
    sdkMethods: [...runners.sdkMethods.keys()],
    call,
    signal,
  }
  const outcome = await runners.sandboxAt(depth).run(request)
  addToFigure(scope.db.owner, 'computingMs', outcome.cpuMs)
  const inQueue: RunQueued = (characters, work) => runners.heavy.enqueue(scope.workspace.id, characters, work)
  return buildRunResult(order, known.version, outcome, secrets.forms(), inQueue)
}

/** Executes the SDK calls of a run as the run's caller; each call uses the caller's rights at its time. */
function sdkOf(caller: Scope, order: ExecutionRequest, known: FunctionView, runners: FunctionRunners, secrets: SecretRedactor): SdkCall {
  const { authors, isLesser } = order.authorship
  const authorship = { authors: [...authors, known.author_id], isLesser }
  const cause = causedBy(caller.cause, 'function', order.id)
  // An invoked run shares the slot of the invoking run, so the runs that one run invokes are executed one after another.
  const oneAtATime = createSemaphore(1)

  const invoke = async (scope: Scope, functionId: string, input: unknown, signal: AbortSignal): Promise<Invocation> => {
    if (order.depth >= functionLimits.deepestInvoke) {
      throw problem('VALIDATION_ERROR', `functions.invoke may go ${functionLimits.deepestInvoke} deep`)
    }
    const next = { id: newId(), functionId, inputText: JSON.stringify(input), authorship, parentId: order.id, depth: order.depth + 1 }
    const { run, invocation } = await oneAtATime(() =>
      executeFunction(scope, { ...next, above: [...order.above, secrets], signal }, runners),
    )
    await saveFunctionRun(scope, run)
    return invocation
  }

  return async (name, args, signal) => {
    const method = runners.sdkMethods.get(name)
    const carryOut = async (db: Executor, verification?: Verification): Promise<unknown> => {
      const scope = await enterRun({ ...caller, db, verification, cause }, caller.workspace.id, authorship)
      if (method) requireNotHalted({ work: 'request', app: method.app }, scope.workspace)
      const context = { scope, authorId: known.author_id, conceal: secrets.conceal }
      return method?.call({ ...context, invoke: (id, input) => invoke(scope, id, input, signal) }, args)
    }
    if (method?.isReadOnly) return readVerified(caller.cache, (verification) => carryOut(caller.db, verification))
    return inAttempts(caller.cache, caller.db, ({ db }) => carryOut(db))
  }
}
