import { quoteInexactNumbers } from '#shared/platform/kernel/values/exact-numbers.ts'
import { parseStoredJson } from '#shared/platform/kernel/values/json.ts'
import { runnerLimits } from '#workers/features/functions/sandbox/limits.ts'
import { cleanOutputText, createLogBuffer } from '#workers/features/functions/sandbox/log-buffer.ts'
import {
  endingMessages,
  neverStartedOutcome,
  type RunEnding,
  type RunOutcome,
  type RunRequest,
} from '#workers/features/functions/sandbox/run-outcome.ts'
import type { Frame } from '#workers/features/functions/sandbox/runner/frames.ts'
import { toRunner, toWorker } from '#workers/features/functions/sandbox/runner/protocol.ts'
import type { Runner } from '#workers/features/functions/sandbox/runner/runner.ts'
import { type CpuScheduler, monitorCpu } from '#workers/features/functions/sandbox/scheduling/cpu-scheduler.ts'
import type { HeavyWorkQueue } from '#workers/features/functions/sandbox/scheduling/heavy-work.ts'
import { createSdkCallHandler, type ReportFailure } from '#workers/features/functions/sandbox/sdk-calls.ts'

/** Schedulers that all runs of a process share. */
export interface SharedSchedulers {
  readonly heavyWork: HeavyWorkQueue
  readonly cpuScheduler: CpuScheduler
}

/**
 * Executes a run in a ready runner. Kills the runner when the run ends while code or calls of it are pending. Returns null when the runner
 * was lost before the run started: the run may then be tried in another runner.
 */
export async function executeIn(
  runner: Runner,
  request: RunRequest,
  memoryBytes: number,
  { heavyWork, cpuScheduler }: SharedSchedulers,
  report: ReportFailure,
): Promise<RunOutcome | null> {
  const over = new AbortController()
  const monitor = monitorRun(runner, request, memoryBytes, cpuScheduler)
  const logs = createLogBuffer()
  const calls = createSdkCallHandler(request, over.signal, heavyWork, report, (id, isAnswer, text) => {
    if (!over.signal.aborted) runner.send(isAnswer ? toRunner.answer : toRunner.refusal, id, text)
  })
  const receivers: Readonly<Record<number, (frame: Frame) => void>> = {
    [toWorker.started]: monitor.start,
    [toWorker.log]: ({ number, text }) => logs.write(number, text),
    [toWorker.call]: ({ number, text }) => calls.receive(number, text),
    [toWorker.returned]: ({ text }) => monitor.recordHandlerEnd('returned', text),
    [toWorker.threw]: ({ text }) => monitor.recordHandlerEnd('threw', cleanOutputText(text)),
    [toWorker.done]: monitor.recordDone,
    [toWorker.memory]: monitor.recordOutOfMemory,
  }
  const { source, sdkMethods, inputText } = request
  const order = `${source}${sdkMethods.join(' ')}\n${quoteInexactNumbers(inputText)}`
  runner.order(toRunner.run, source.length, order, { receive: (frame) => receivers[frame.kind]?.(frame), onLost: monitor.interrupt })

  const end = await monitor.end
  const { durationMs, cpuMs } = monitor.stop()
  over.abort()
  if (!end.isDone) runner.kill()
  if (durationMs === null) return request.signal?.aborted ? neverStartedOutcome : null
  // Copied, because a call that ends later still changes its step.
  const steps = calls.steps.map((step) => ({ ...step }))
  const handlerOutcome = await heavyWork.enqueue(request.owner, end.text.length, () => handlerOutcomeOf(end))
  return { ...handlerOutcome, logs: logs.lines, steps, durationMs, cpuMs }
}

/** How a run ended. */
interface RunEnd {
  readonly ending: RunEnding
  /** The result as JSON text if the handler returned, its message if it threw, otherwise empty. */
  readonly text: string
  /** Whether no code or call of the run is pending, so that its runner can be used again. */
  readonly isDone: boolean
}

interface RunMonitor {
  /**
   * Fulfilled by the first of: the run is done, time limit, memory limit, `interrupt`, abort of the signal. A run whose handler ends within
   * the time limit has not timed out, even if SDK calls that it did not await are still pending then.
   */
  readonly end: Promise<RunEnd>
  /** Records the start of the run in its isolate. The time limit counts from here. */
  readonly start: () => void
  /** Records the end of the handler; only the first call counts. */
  readonly recordHandlerEnd: (ending: 'returned' | 'threw', text: string) => void
  /** Records that no call of the run is pending. A run that is done before its handler has ended is interrupted. */
  readonly recordDone: () => void
  readonly recordOutOfMemory: () => void
  readonly interrupt: () => void
  /** Stops monitoring. Returns the milliseconds since the start of the run, null if it has not started, and those of CPU time. */
  readonly stop: () => { readonly durationMs: number | null; readonly cpuMs: number }
}

/**
 * Monitors one run, beginning with the order to the runner. The time is measured in the worker, because code in the runner could block a
 * timer there.
 */
function monitorRun(runner: Runner, { owner, timeoutMs, signal }: RunRequest, memoryBytes: number, scheduler: CpuScheduler): RunMonitor {
  const { promise: end, resolve } = Promise.withResolvers<RunEnd>()
  const endAs = (ending: RunEnding) => () => resolve({ ending, text: '', isDone: false })
  const interrupt = endAs('interrupted')
  const recordOutOfMemory = endAs('out_of_memory')
  let handlerEnd: Omit<RunEnd, 'isDone'> | undefined
  const recordHandlerEnd: RunMonitor['recordHandlerEnd'] = (ending, text) => {
    handlerEnd ??= { ending, text }
  }
  const recordDone = (): void => {
    if (handlerEnd) resolve({ ...handlerEnd, isDone: true })
    else interrupt()
  }
  const endByTime = (): void => {
    if (handlerEnd) resolve({ ...handlerEnd, isDone: false })
    else endAs('timed_out')()
  }
  let startedAt: number | null = null
  let timer = setTimeout(interrupt, runnerLimits.startTimeoutMs)
  const stopPolling = monitorCpu(runner, owner, scheduler, () => {
    if (runner.grownBytes() > memoryBytes + runnerLimits.marginBytes) recordOutOfMemory()
  })
  signal?.addEventListener('abort', interrupt)
  if (signal?.aborted) interrupt()

  const start = (): void => {
    if (startedAt !== null) return
    startedAt = performance.now()
    clearTimeout(timer)
    timer = setTimeout(endByTime, timeoutMs)
  }
  const stop: RunMonitor['stop'] = () => {
    clearTimeout(timer)
    const cpuMs = stopPolling()
    signal?.removeEventListener('abort', interrupt)
    return { durationMs: startedAt === null ? null : Math.round(performance.now() - startedAt), cpuMs }
  }
  return { end, start, recordHandlerEnd, recordDone, recordOutOfMemory, interrupt, stop }
}

const noResult = { result: null, resultText: 'null' } as const

function handlerOutcomeOf({ ending, text }: RunEnd): Pick<RunOutcome, 'ending' | 'result' | 'resultText' | 'error'> {
  if (ending === 'threw') return { ending, ...noResult, error: text }
  if (ending !== 'returned') return { ending, ...noResult, error: endingMessages[ending] }
  try {
    return { ending, result: parseStoredJson(text), resultText: text, error: null }
  } catch {
    // The runner makes the text with JSON.stringify; a compromised runner may send anything.
    return { ending: 'threw', ...noResult, error: 'the result is not JSON' }
  }
}
