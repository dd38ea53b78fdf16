import type { Scope } from '#shared/access/scope.ts'
import { readVerified } from '#shared/db/read-verified.ts'
import type { Verification } from '#shared/db/verification.ts'
import type { FunctionView } from '#shared/functions/function.ts'
import { disabled, getFunction } from '#shared/functions/functions.ts'
import type { Invocation } from '#shared/functions/invocation.ts'
import { functionLimits } from '#shared/functions/limits.ts'
import { type EndedRun, recordRun } from '#shared/functions/runs.ts'
import { atMost } from '#shared/kernel/at-most.ts'
import { problem } from '#shared/kernel/errors.ts'
import { newId } from '#shared/kernel/ids.ts'
import { parseStoredJson } from '#shared/kernel/json.ts'
import { sdkMethods } from '#shared/sdk.ts'
import type { FunctionRunners } from '#workers/functions/function-runners.ts'
import { type Redactor, redactor } from '#workers/functions/redact.ts'
import { enterRun } from '#workers/functions/rights.ts'
import { endingMessages, type RunOutcome, type SdkCall } from '#workers/functions/sandbox/outcome.ts'

/** One run that somebody wants. */
export interface RunOrder {
  readonly id: string
  readonly functionId: string
  readonly input: unknown
  /** Whose rights bind it beside its caller's; null when only the caller's count. */
  readonly authors: readonly string[] | null
  /** The run that invokes this one, and how many runs wait for it in all. */
  readonly parentId: string | null
  readonly depth: number
  /** Ends the run as interrupted. */
  readonly signal: AbortSignal
}

/** What came of a run, as it is recorded and as its caller is told. */
export interface Ended {
  readonly run: EndedRun
  readonly invocation: Invocation
}

const methods = new Map(sdkMethods.map((method) => [method.name, method]))
const names = [...methods.keys()]

/**
 * Runs a function for the scope's caller; whatever it does is an outcome. Throws NOT_FOUND, and VALIDATION_ERROR when it is disabled or
 * its input too large.
 */
export async function runOrder(scope: Scope, order: RunOrder, runners: FunctionRunners): Promise<Ended> {
  const { functionId, input, depth, signal } = order
  const known = await getFunction(scope, functionId)
  if (!known.enabled) throw disabled()
  const secrets = redactor()
  const call = sdkOf(scope, order, known, runners, secrets)
  const { source, timeout_ms } = known
  const request = { owner: scope.workspace.id, source, input, timeoutMs: timeout_ms, sdkMethods: names, call, signal }
  const outcome = await runners.at(depth).run(request)
  return ended(order, known, outcome, secrets)
}

/** Carries out a run's SDK calls as its caller, each with the rights of its moment; they are a step further from what caused the run. */
function sdkOf(caller: Scope, order: RunOrder, known: FunctionView, runners: FunctionRunners, { conceal }: Redactor): SdkCall {
  const inside: Scope = { ...caller, cause: { ...caller.cause, depth: caller.cause.depth + 1 } }
  const authors = order.authors && [...order.authors, known.author_id]
  // A run that is invoked has its caller's slot, so those of one caller take turns.
  const inTurn = atMost(1)

  const invoke = async (scope: Scope, functionId: string, input: unknown, signal: AbortSignal): Promise<Invocation> => {
    if (order.depth >= functionLimits.deepestInvoke) {
      throw problem('VALIDATION_ERROR', `functions.invoke may go ${functionLimits.deepestInvoke} deep`)
    }
    const next = { id: newId(), functionId, input, authors, parentId: order.id, depth: order.depth + 1, signal }
    const { run, invocation } = await inTurn(() => runOrder(scope, next, runners))
    await recordRun(scope, run)
    return invocation
  }

  return async (name, args, signal) => {
    const method = methods.get(name)
    const carryOut = async (verification: Verification | undefined): Promise<unknown> => {
      const scope = await enterRun({ ...inside, verification }, caller.workspace.id, authors ?? [])
      return method?.call({ scope, conceal, invoke: (id, input) => invoke(scope, id, input, signal) }, args)
    }
    if (method?.reads) return readVerified(inside.cache, carryOut)
    await inside.cache.settle()
    return carryOut(undefined)
  }
}

function ended({ id, parentId, functionId }: RunOrder, { version }: FunctionView, outcome: RunOutcome, { redact }: Redactor): Ended {
  const { ending, resultText, timedOut, durationMs } = outcome
  const [error, logs, steps] = [redact(outcome.error), redact([...outcome.logs]), [...outcome.steps]]
  const resultBytes = Buffer.byteLength(resultText)
  const told = { logs, steps, duration_ms: durationMs, timed_out: timedOut, ...(error === null ? {} : { error }) }
  return {
    run: { id, functionId, version, parentId, ending, error, logs, steps, resultBytes, durationMs },
    invocation: { result: redact(parseStoredJson(resultText)), ...told },
  }
}

/** What is told of a run that began on a worker which is gone: it may have done anything, so it is not begun again. */
export function interrupted({ id, functionId }: Pick<RunOrder, 'id' | 'functionId'>, version: number): Ended {
  const nothing = { logs: [], steps: [], error: endingMessages.interrupted }
  return {
    run: { id, functionId, version, parentId: null, ending: 'interrupted', resultBytes: 4, durationMs: 0, ...nothing },
    invocation: { result: null, duration_ms: 0, timed_out: false, ...nothing },
  }
}
