import { callDesk, type Report } from '#workers/functions/sandbox/call-desk.ts'
import type { Frame } from '#workers/functions/sandbox/frames.ts'
import { clean, logBook } from '#workers/functions/sandbox/log-book.ts'
import { endingMessages, neverStarted, type RunOutcome, type RunRequest } from '#workers/functions/sandbox/outcome.ts'
import { toRunner, toWorker } from '#workers/functions/sandbox/protocol.ts'
import { type End, watchRun } from '#workers/functions/sandbox/run-watch.ts'
import type { Runner } from '#workers/functions/sandbox/runner.ts'

/**
 * Does one run in a runner that stands ready. Every ending but `returned` and `threw` kills the runner. Null means that the runner was
 * lost before the run had begun, so that another may have it.
 */
export async function runIn(
  runner: Runner,
  request: RunRequest,
  inputText: string,
  memoryBytes: number,
  report: Report,
): Promise<RunOutcome | null> {
  const over = new AbortController()
  const watched = watchRun(runner, request.timeoutMs, memoryBytes, request.signal)
  const logs = logBook()
  const desk = callDesk(request, over.signal, report, (id, answered, text) => {
    if (!over.signal.aborted) runner.send(answered ? toRunner.answer : toRunner.refusal, id, text)
  })
  const heard: Readonly<Record<number, (frame: Frame) => void>> = {
    [toWorker.started]: watched.start,
    [toWorker.log]: ({ number, text }) => logs.write(number, text),
    [toWorker.call]: ({ number, text }) => desk.take(number, text),
    [toWorker.returned]: ({ text }) => watched.finish(isJson(text) ? { ending: 'returned', text } : { ending: 'threw', text: notJson }),
    [toWorker.threw]: ({ text }) => watched.finish({ ending: 'threw', text: clean(text) }),
    [toWorker.memory]: () => watched.finish({ ending: 'out_of_memory', text: '' }),
  }
  const order = JSON.stringify([request.source, inputText, JSON.stringify(request.sdkMethods)])
  runner.order(toRunner.run, order, { hear: (frame) => heard[frame.kind]?.(frame), lose: watched.interrupt })

  const end = await watched.end
  const durationMs = watched.stop()
  over.abort()
  if (end.ending !== 'returned' && end.ending !== 'threw') runner.kill()
  if (durationMs === null) return request.signal?.aborted ? neverStarted : null
  // The steps are copied: a call that answers later changes nothing any more.
  return {
    ...told(end),
    timedOut: end.ending === 'timed_out',
    logs: logs.lines,
    steps: desk.steps.map((step) => ({ ...step })),
    durationMs,
  }
}

const notJson = 'the result is not JSON'

// The runner made the text with JSON.stringify; one that was taken over may say anything.
function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

function told({ ending, text }: End): Pick<RunOutcome, 'ending' | 'resultText' | 'error'> {
  if (ending === 'returned') return { ending, resultText: text, error: null }
  return { ending, resultText: 'null', error: ending === 'threw' ? text : endingMessages[ending] }
}
