import { errorCatalogue, Problem, problem } from '#shared/platform/kernel/errors.ts'
import { quoteInexactNumbers } from '#shared/platform/kernel/values/exact-numbers.ts'
import { parseJson } from '#shared/platform/kernel/values/json.ts'
import { runLimits } from '#workers/features/functions/sandbox/limits.ts'
import type { RunRequest, SdkStep } from '#workers/features/functions/sandbox/run-outcome.ts'
import type { HeavyWorkQueue } from '#workers/features/functions/sandbox/scheduling/heavy-work.ts'

/** Sends the end of call `id` into the run: an answer as JSON text (empty for nothing), or a refusal as JSON of code and message. */
export type SendReply = (id: number, answered: boolean, text: string) => void

/** Tells the log of a failure that is ours. */
export type ReportFailure = (message: string, details: object) => void

/**
 * Carries out the SDK calls of one run, in the worker, and keeps the run's steps in the order of the calls. What it is told comes from a
 * process that may have been taken over, so `take` throws on a call that an unharmed runner would never send.
 */
export function createSdkCallHandler(
  request: RunRequest,
  signal: AbortSignal,
  heavy: HeavyWorkQueue,
  report: ReportFailure,
  reply: SendReply,
) {
  const { call, sdkMethods } = request
  const steps: { method: string; is_error: boolean }[] = []
  const methods = new Set(sdkMethods)
  let underWay = 0

  const take = (id: number, text: string): void => {
    const end = text.indexOf('\n')
    const method = text.slice(0, end)
    if (!methods.has(method) || steps.length === runLimits.sdkCalls || underWay === runLimits.callsAtOnce) {
      throw new Error('a runner sent a call that it may not send')
    }
    const step = { method, is_error: true }
    steps.push(step)
    underWay += 1
    void carryOut(id, step, text.slice(end + 1))
  }

  const carryOut = async (id: number, step: { method: string; is_error: boolean }, text: string): Promise<void> => {
    try {
      const args = await heavy.enqueue(request.owner, text.length, () => (signal.aborted ? [] : argumentsOf(text)))
      signal.throwIfAborted()
      const answer = answerText(await call(step.method, args, signal))
      step.is_error = false
      // The next call of a run that waits for its answer waits with it.
      await heavy.enqueue(request.owner, answer.length, () => reply(id, true, answer))
    } catch (error) {
      if (!(error instanceof Problem) && !signal.aborted) report('an SDK call failed', { method: step.method, err: error })
      reply(id, false, JSON.stringify(error instanceof Problem ? error : { code: 'INTERNAL', message: errorCatalogue.INTERNAL.message }))
    } finally {
      underWay -= 1
    }
  }

  return { steps: steps as readonly SdkStep[], take }
}

function argumentsOf(text: string): readonly unknown[] {
  const args = parseJson(text, 'arguments')
  if (!Array.isArray(args)) throw problem('VALIDATION_ERROR', 'the arguments are not a list')
  return args
}

function answerText(value: unknown): string {
  const text = quoteInexactNumbers(JSON.stringify(value) ?? '')
  if (text.length <= runLimits.jsonCharacters) return text
  throw problem('VALIDATION_ERROR', `the answer has more than ${runLimits.jsonCharacters} characters of JSON: ask for less at a time`)
}
