import { errorCatalogue, Problem, problem } from '#shared/platform/kernel/errors.ts'
import { quoteInexactNumbers } from '#shared/platform/kernel/values/exact-numbers.ts'
import { parseJson } from '#shared/platform/kernel/values/json.ts'
import { runLimits } from '#workers/features/functions/sandbox/limits.ts'
import type { RunRequest, SdkStep } from '#workers/features/functions/sandbox/run-outcome.ts'
import type { HeavyWorkQueue } from '#workers/features/functions/sandbox/scheduling/heavy-work.ts'

/** Sends the reply of call `id` to the run: an answer as JSON text (empty for undefined), or a refusal as JSON of code and message. */
type SendReply = (id: number, isAnswer: boolean, text: string) => void

/** Logs a failure that is not the function's, such as an SDK call that failed without a Problem. */
export type ReportFailure = (message: string, details: object) => void

/**
 * Creates the handler of a run's SDK calls. It executes the calls in the worker and lists them, in their order, as the run's steps.
 * `receive` throws on a call that only a compromised runner would send.
 */
export function createSdkCallHandler(
  request: RunRequest,
  signal: AbortSignal,
  heavyWork: HeavyWorkQueue,
  report: ReportFailure,
  reply: SendReply,
) {
  const { call, sdkMethods } = request
  const steps: { method: string; is_error: boolean }[] = []
  const methods = new Set(sdkMethods)
  let pending = 0

  const receive = (id: number, text: string): void => {
    const end = text.indexOf('\n')
    const method = text.slice(0, end)
    if (!methods.has(method) || steps.length === runLimits.sdkCalls || pending === runLimits.concurrentCalls) {
      throw new Error('a runner sent a call that it may not send')
    }
    const step = { method, is_error: true }
    steps.push(step)
    pending += 1
    void execute(id, step, text.slice(end + 1))
  }

  const execute = async (id: number, step: { method: string; is_error: boolean }, text: string): Promise<void> => {
    try {
      const args = await heavyWork.enqueue(request.owner, text.length, () => (signal.aborted ? [] : parseArguments(text)))
      signal.throwIfAborted()
      const answer = answerText(await call(step.method, args, signal))
      step.is_error = false
      // A long answer is queued as heavy work, too, so a run that awaits long answers makes its calls more slowly.
      await heavyWork.enqueue(request.owner, answer.length, () => reply(id, true, answer))
    } catch (error) {
      if (!(error instanceof Problem) && !signal.aborted) report('an SDK call failed', { method: step.method, err: error })
      reply(id, false, JSON.stringify(error instanceof Problem ? error : { code: 'INTERNAL', message: errorCatalogue.INTERNAL.message }))
    } finally {
      pending -= 1
    }
  }

  return { steps: steps as readonly SdkStep[], receive }
}

function parseArguments(text: string): readonly unknown[] {
  const args = parseJson(text, 'arguments')
  if (!Array.isArray(args)) throw problem('VALIDATION_ERROR', 'the arguments are not a list')
  return args
}

function answerText(value: unknown): string {
  const text = quoteInexactNumbers(JSON.stringify(value) ?? '')
  if (text.length <= runLimits.jsonCharacters) return text
  throw problem('VALIDATION_ERROR', `the answer has more than ${runLimits.jsonCharacters} characters of JSON: ask for less at a time`)
}
