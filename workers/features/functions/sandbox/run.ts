import { quoteInexactNumbers } from '#shared/platform/kernel/values/exact-numbers.ts'
import { parseStoredJson } from '#shared/platform/kernel/values/json.ts'
import { cleanOutputText, createLogBuffer } from '#workers/features/functions/sandbox/log-buffer.ts'
import { monitorRun, type RunEnd } from '#workers/features/functions/sandbox/run-monitor.ts'
import { endingMessages, neverStartedOutcome, type RunOutcome, type RunRequest } from '#workers/features/functions/sandbox/run-outcome.ts'
import type { Frame } from '#workers/features/functions/sandbox/runner/frames.ts'
import { toRunner, toWorker } from '#workers/features/functions/sandbox/runner/protocol.ts'
import type { Runner } from '#workers/features/functions/sandbox/runner/runner.ts'
import type { CpuScheduler } from '#workers/features/functions/sandbox/scheduling/cpu-scheduler.ts'
import type { HeavyWorkQueue } from '#workers/features/functions/sandbox/scheduling/heavy-work.ts'
import { createSdkCallHandler, type ReportFailure } from '#workers/features/functions/sandbox/sdk-calls.ts'

/** What the runs of one process share. */
export interface SharedSchedulers {
  readonly heavyWork: HeavyWorkQueue
  readonly cpuScheduler: CpuScheduler
}

/**
 * Does one run in a runner that stands ready. Every end but a quiet one kills the runner. Null means that the runner was lost before the
 * run had begun, so that another may have it.
 */
export async function executeIn(
  runner: Runner,
  request: RunRequest,
  memoryBytes: number,
  { heavyWork, cpuScheduler }: SharedSchedulers,
  report: ReportFailure,
): Promise<RunOutcome | null> {
  const over = new AbortController()
  const watched = monitorRun(runner, request, memoryBytes, cpuScheduler)
  const logs = createLogBuffer()
  const desk = createSdkCallHandler(request, over.signal, heavyWork, report, (id, answered, text) => {
    if (!over.signal.aborted) runner.send(answered ? toRunner.answer : toRunner.refusal, id, text)
  })
  const heard: Readonly<Record<number, (frame: Frame) => void>> = {
    [toWorker.started]: watched.start,
    [toWorker.log]: ({ number, text }) => logs.write(number, text),
    [toWorker.call]: ({ number, text }) => desk.take(number, text),
    [toWorker.returned]: ({ text }) => watched.recordHandlerEnd('returned', text),
    [toWorker.threw]: ({ text }) => watched.recordHandlerEnd('threw', cleanOutputText(text)),
    [toWorker.quiet]: watched.recordQuiet,
    [toWorker.memory]: watched.runOutOfMemory,
  }
  const order = JSON.stringify([request.source, quoteInexactNumbers(request.inputText), JSON.stringify(request.sdkMethods)])
  runner.order(toRunner.run, order, { receive: (frame) => heard[frame.kind]?.(frame), onLost: watched.interrupt })

  const end = await watched.end
  const durationMs = watched.stop()
  over.abort()
  if (!end.isQuiet) runner.kill()
  if (durationMs === null) return request.signal?.aborted ? neverStartedOutcome : null
  // The steps are copied: a call that answers later changes nothing any more.
  const steps = desk.steps.map((step) => ({ ...step }))
  const what = await heavyWork.enqueue(request.owner, end.text.length, () => told(end))
  return { ...what, timedOut: end.ending === 'timed_out', logs: logs.lines, steps, durationMs }
}

type Told = Pick<RunOutcome, 'ending' | 'result' | 'resultText' | 'error'>

const nothing = { result: null, resultText: 'null' } as const

function told({ ending, text }: RunEnd): Told {
  if (ending === 'threw') return { ending, ...nothing, error: text }
  if (ending !== 'returned') return { ending, ...nothing, error: endingMessages[ending] }
  try {
    return { ending, result: parseStoredJson(text), resultText: text, error: null }
  } catch {
    // The runner made the text with JSON.stringify; one that was taken over may say anything.
    return { ending: 'threw', ...nothing, error: 'the result is not JSON' }
  }
}
