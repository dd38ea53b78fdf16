import { Problem } from '#shared/kernel/errors.ts'
import { parseJson } from '#shared/kernel/json.ts'
import { callDesk, type Report } from '#workers/functions/sandbox/call-desk.ts'
import type { Frame } from '#workers/functions/sandbox/frames.ts'
import { watch } from '#workers/functions/sandbox/limits.ts'
import { clean, logBook } from '#workers/functions/sandbox/log-book.ts'
import { type Ending, endingMessages, type RunOutcome, type RunRequest } from '#workers/functions/sandbox/outcome.ts'
import { toRunner, toWorker } from '#workers/functions/sandbox/protocol.ts'
import type { Runner } from '#workers/functions/sandbox/runner.ts'

/** How a run ended: its result as text when it returned, its message when it threw, the ending's own message otherwise. */
interface End {
  readonly ending: Ending
  readonly text?: string
}

/**
 * Does one run in a runner that stands ready. Every ending but `returned` and `threw` kills the runner. Null means that the run never
 * started, so that another runner may have it.
 */
export async function runIn(
  runner: Runner,
  request: RunRequest,
  inputText: string,
  memoryBytes: number,
  report: Report,
): Promise<RunOutcome | null> {
  const over = new AbortController()
  const end = Promise.withResolvers<End>()
  const logs = logBook()
  const desk = callDesk(request, over.signal, report, (id, answered, text) => {
    if (!over.signal.aborted) runner.send(answered ? toRunner.answer : toRunner.refusal, id, text)
  })
  let startedAt: number | undefined
  let clock = setTimeout(() => end.resolve({ ending: 'interrupted' }), watch.startMs)
  const heard: Record<number, (frame: Frame) => void> = {
    [toWorker.started]: () => {
      if (startedAt !== undefined) return
      startedAt = performance.now()
      clearTimeout(clock)
      clock = setTimeout(() => end.resolve({ ending: 'timed_out' }), request.timeoutMs)
    },
    [toWorker.log]: ({ number, text }) => logs.write(number, text),
    [toWorker.call]: ({ number, text }) => desk.take(number, text),
    [toWorker.returned]: ({ text }) => end.resolve(returned(text)),
    [toWorker.threw]: ({ text }) => end.resolve({ ending: 'threw', text: clean(text) }),
    [toWorker.memory]: () => end.resolve({ ending: 'out_of_memory' }),
  }
  const memoryWatch = setInterval(() => {
    if (runner.grownBytes() > memoryBytes + watch.marginBytes) end.resolve({ ending: 'out_of_memory' })
  }, watch.memoryEveryMs)
  const interrupt = () => end.resolve({ ending: 'interrupted' })
  request.signal?.addEventListener('abort', interrupt)
  void runner.gone.then(interrupt)

  const order = JSON.stringify([request.source, inputText, JSON.stringify(request.sdkMethods)])
  runner.order(toRunner.run, order, (frame) => heard[frame.kind]?.(frame))
  if (request.signal?.aborted) interrupt()
  const { ending, text } = await end.promise

  clearTimeout(clock)
  clearInterval(memoryWatch)
  request.signal?.removeEventListener('abort', interrupt)
  over.abort()
  if (ending !== 'returned' && ending !== 'threw') runner.kill()
  if (startedAt === undefined && !request.signal?.aborted) return null
  const durationMs = Math.round(performance.now() - (startedAt ?? performance.now()))
  return outcomeOf({ ending, ...(text === undefined ? {} : { text }) }, durationMs, logs.lines, desk.steps)
}

/** Takes a result only when it is JSON that any store and any answer of ours can hold. */
function returned(text: string): End {
  try {
    parseJson(text)
    return { ending: 'returned', text }
  } catch (error) {
    const why = error instanceof Problem ? error.message.replace('body', 'the result') : 'the result is not JSON'
    return { ending: 'threw', text: why }
  }
}

function outcomeOf({ ending, text = '' }: End, durationMs: number, logs: RunOutcome['logs'], steps: RunOutcome['steps']): RunOutcome {
  const isReturned = ending === 'returned'
  const error = isReturned ? null : ending === 'threw' ? text : endingMessages[ending]
  // The lists are closed here: a call that answers later changes nothing any more.
  const closed = steps.map((step) => ({ ...step }))
  return { ending, resultText: isReturned ? text : 'null', error, timedOut: ending === 'timed_out', logs, steps: closed, durationMs }
}
