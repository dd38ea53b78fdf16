import type { Invocation } from '#shared/core/automation/schemas.ts'
import type { EndedFunctionRun } from '#shared/features/functions/runs/runs.ts'
import { cutPartialSecret, type RunQueued, redactKnownSecrets, type SecretRedactor } from '#workers/features/functions/redact-secrets.ts'
import type { Authorship } from '#workers/features/functions/run-rights.ts'
import { runLimits } from '#workers/features/functions/sandbox/limits.ts'
import { truncationLine } from '#workers/features/functions/sandbox/log-buffer.ts'
import { endingMessages, type RunOutcome } from '#workers/features/functions/sandbox/run-outcome.ts'

/** A requested run of a function. */
export interface ExecutionRequest {
  readonly id: string
  readonly functionId: string
  /** JSON text. */
  readonly inputText: string
  /** Authors of the functions whose runs wait for this one, and whether their rights limit this run in addition to those of its caller. */
  readonly authorship: Authorship
  /** The invoking run's id; null when no run invoked this one. */
  readonly parentId: string | null
  readonly depth: number
  /** Secrets that the waiting runs have read: the input may contain one. */
  readonly above: readonly SecretRedactor[]
  /** Aborting it ends the run as interrupted. */
  readonly signal: AbortSignal
}

/** Result of a run: the record to store and the answer to its caller. */
export interface RunResult {
  readonly run: EndedFunctionRun
  readonly invocation: Invocation
}

/**
 * Builds a run's result without the secrets that the run has read, given as `forms`. The answer to the invoking run may contain secrets
 * that the invoking run sent as input; the stored record may not. Work whose time depends on the size of the result is queued with
 * `inQueue`.
 */
export async function buildRunResult(
  order: ExecutionRequest,
  version: number,
  outcome: RunOutcome,
  forms: readonly string[],
  inQueue: RunQueued,
): Promise<RunResult> {
  const { id, parentId, functionId, above } = order
  const { ending, result, resultText, durationMs } = outcome
  const steps = [...outcome.steps]
  const redacted = await redactTexts(textsOf(outcome), outcome, forms, inQueue)
  let redactedForRecord = redacted
  for (const secrets of above) redactedForRecord = await redactTexts(redactedForRecord, outcome, secrets.forms(), inQueue)
  const { error, logs } = outputOf(redacted, outcome)
  const redactedResult = await redactKnownSecrets(result, resultText, forms, inQueue)
  const resultBytes = Buffer.byteLength(resultText)
  return {
    run: { id, functionId, version, parentId, ending, ...outputOf(redactedForRecord, outcome), steps, resultBytes, durationMs },
    invocation: {
      result: redactedResult,
      logs,
      steps,
      duration_ms: durationMs,
      timed_out: ending === 'timed_out',
      ...(error === null ? {} : { error }),
    },
  }
}

/** The error text of a run, then its log lines. */
const textsOf = ({ error, logs }: RunOutcome): readonly string[] => [error ?? '', ...logs.map(({ msg }) => msg)]

/** Error and logs of an outcome with their texts replaced. */
const outputOf = ([error = '', ...msgs]: readonly string[], outcome: RunOutcome) => ({
  error: outcome.error === null ? null : error,
  logs: outcome.logs.map(({ level }, index) => ({ level, msg: msgs[index] ?? '' })),
})

/** Redacts secrets in the texts of an outcome, also one that truncation cut. */
async function redactTexts(
  texts: readonly string[],
  { error, logs }: RunOutcome,
  forms: readonly string[],
  inQueue: RunQueued,
): Promise<readonly string[]> {
  if (forms.length === 0) return texts
  const clean = [...(await redactKnownSecrets(texts, JSON.stringify(texts), forms, inQueue))]
  const cutLog = logs.at(-1) === truncationLine ? logs.length - 1 : undefined
  const cutError = error !== null && error.length >= runLimits.errorCharacters ? 0 : undefined
  for (const index of [cutError, cutLog]) if (index !== undefined) clean[index] = cutPartialSecret(clean[index] ?? '', forms)
  return clean
}

/** Result of a run whose worker was lost. The run's side effects are unknown, so it is not restarted. */
export function interruptedRunResult({ id, functionId }: Pick<ExecutionRequest, 'id' | 'functionId'>, version: number): RunResult {
  const empty = { logs: [], steps: [], error: endingMessages.interrupted }
  return {
    run: { id, functionId, version, parentId: null, ending: 'interrupted', resultBytes: 4, durationMs: 0, ...empty },
    invocation: { result: null, duration_ms: 0, timed_out: false, ...empty },
  }
}
