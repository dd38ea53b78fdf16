import type { Invocation } from '#shared/core/automation/invocation.ts'
import type { EndedFunctionRun } from '#shared/features/functions/runs/runs.ts'
import { cutPartialSecret, type RunQueued, redactKnownSecrets } from '#workers/features/functions/redact-secrets.ts'
import type { ExecutionRequest } from '#workers/features/functions/run-order.ts'
import { runLimits } from '#workers/features/functions/sandbox/limits.ts'
import { truncationLine } from '#workers/features/functions/sandbox/log-buffer.ts'
import { endingMessages, type RunOutcome } from '#workers/features/functions/sandbox/run-outcome.ts'

/** What came of a run, as it is recorded and as its caller is told. */
export interface RunResult {
  readonly run: EndedFunctionRun
  readonly invocation: Invocation
}

/**
 * What came of an outcome, without the secrets that the run has read, given in their forms. A run that waits for this one is told the
 * secrets that it sent; what is recorded holds none of those either. What takes as long as the result likes is done `inTurn`.
 */
export async function buildRunResult(
  order: ExecutionRequest,
  version: number,
  outcome: RunOutcome,
  forms: readonly string[],
  inTurn: RunQueued,
): Promise<RunResult> {
  const { id, parentId, functionId, above } = order
  const { ending, result, resultText, timedOut, durationMs } = outcome
  const steps = [...outcome.steps]
  const told = await withoutSecrets(textsOf(outcome), outcome, forms, inTurn)
  let kept = told
  for (const secrets of above) kept = await withoutSecrets(kept, outcome, secrets.forms(), inTurn)
  const { error, logs } = outputOf(told, outcome)
  const shown = await redactKnownSecrets(result, resultText, forms, inTurn)
  const resultBytes = Buffer.byteLength(resultText)
  return {
    run: { id, functionId, version, parentId, ending, ...outputOf(kept, outcome), steps, resultBytes, durationMs },
    invocation: {
      result: shown,
      logs,
      steps,
      duration_ms: durationMs,
      timed_out: timedOut,
      ...(error === null ? {} : { error }),
    },
  }
}

/** What a run threw, and what it printed line by line. */
const textsOf = ({ error, logs }: RunOutcome): readonly string[] => [error ?? '', ...logs.map(({ msg }) => msg)]

/** These texts in the place of those of an outcome. */
const outputOf = ([error = '', ...msgs]: readonly string[], outcome: RunOutcome) => ({
  error: outcome.error === null ? null : error,
  logs: outcome.logs.map(({ level }, index) => ({ level, msg: msgs[index] ?? '' })),
})

/** The texts of an outcome without these secrets, also where one was cut in the middle. */
async function withoutSecrets(
  texts: readonly string[],
  { error, logs }: RunOutcome,
  forms: readonly string[],
  inTurn: RunQueued,
): Promise<readonly string[]> {
  if (forms.length === 0) return texts
  const clean = [...(await redactKnownSecrets(texts, JSON.stringify(texts), forms, inTurn))]
  const cutLog = logs.at(-1) === truncationLine ? logs.length - 1 : undefined
  const cutError = error !== null && error.length >= runLimits.errorCharacters ? 0 : undefined
  for (const place of [cutError, cutLog]) if (place !== undefined) clean[place] = cutPartialSecret(clean[place] ?? '', forms)
  return clean
}

/** What is told of a run that began on a worker which is gone: it may have done anything, so it is not begun again. */
export function interruptedRunResult({ id, functionId }: Pick<ExecutionRequest, 'id' | 'functionId'>, version: number): RunResult {
  const nothing = { logs: [], steps: [], error: endingMessages.interrupted }
  return {
    run: { id, functionId, version, parentId: null, ending: 'interrupted', resultBytes: 4, durationMs: 0, ...nothing },
    invocation: { result: null, duration_ms: 0, timed_out: false, ...nothing },
  }
}
