import type { Invocation } from '#shared/functions/invocation.ts'
import type { EndedRun } from '#shared/functions/runs.ts'
import { holds, redact, redactCut } from '#workers/functions/redact.ts'
import type { RunOrder } from '#workers/functions/run-order.ts'
import { runLimits } from '#workers/functions/sandbox/limits.ts'
import { cutLine } from '#workers/functions/sandbox/log-book.ts'
import { endingMessages, type RunOutcome } from '#workers/functions/sandbox/outcome.ts'

/** What came of a run, as it is recorded and as its caller is told. */
export interface Ended {
  readonly run: EndedRun
  readonly invocation: Invocation
}

/**
 * What came of an outcome, without the secrets that the run has read, given in their forms. A run that waits for this one is told the
 * secrets that it sent; what is recorded holds none of those either. What takes as long as the result likes is done `inTurn`.
 */
export async function ended(
  order: RunOrder,
  version: number,
  outcome: RunOutcome,
  forms: readonly string[],
  inTurn: <Result>(work: () => Result) => Promise<Result>,
): Promise<Ended> {
  const { id, parentId, functionId, above } = order
  const { ending, result, resultText, timedOut, durationMs } = outcome
  const steps = [...outcome.steps]
  const { error, logs } = withoutSecrets(outcome, forms)
  const kept = above.reduce((output, secrets) => withoutSecrets(output, secrets.forms()), { error, logs })
  const resultBytes = Buffer.byteLength(resultText)
  const present: string[] = []
  for (const form of forms) if (await inTurn(() => holds(resultText, form))) present.push(form)
  const shown = present.length === 0 ? result : await inTurn(() => redact(result, present))
  const told = { steps, duration_ms: durationMs, timed_out: timedOut, ...(error === null ? {} : { error }) }
  return {
    run: { id, functionId, version, parentId, ending, error: kept.error, logs: [...kept.logs], steps, resultBytes, durationMs },
    invocation: { result: shown, logs: [...logs], ...told },
  }
}

type Output = Pick<RunOutcome, 'error' | 'logs'>

/** What a run printed and threw, without these secrets, also where it was cut in the middle of one. */
function withoutSecrets({ error, logs }: Output, forms: readonly string[]): Output {
  const isCut = error !== null && error.length >= runLimits.errorCharacters
  const clean = redact(logs, forms)
  const last = clean.at(-2)
  return {
    error: isCut ? redactCut(error, forms) : redact(error, forms),
    logs: last && logs.at(-1) === cutLine ? [...clean.slice(0, -2), { ...last, msg: redactCut(last.msg, forms) }, cutLine] : clean,
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
