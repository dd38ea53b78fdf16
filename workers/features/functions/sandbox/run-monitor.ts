import { runnerLimits } from '#workers/features/functions/sandbox/limits.ts'
import type { RunEnding, RunRequest } from '#workers/features/functions/sandbox/run-outcome.ts'
import type { Runner } from '#workers/features/functions/sandbox/runner/runner.ts'
import { type CpuScheduler, monitorCpu } from '#workers/features/functions/sandbox/scheduling/cpu-scheduler.ts'

/** How a run ended. */
export interface RunEnd {
  readonly ending: RunEnding
  /** The result as JSON text if the handler returned, its message if it threw, otherwise empty. */
  readonly text: string
  /** Whether no code or call of the run is pending, so that its runner can be used again. */
  readonly isDone: boolean
}

export interface RunMonitor {
  /**
   * Fulfilled by the first of: the run is done, time limit, memory limit, `interrupt`, abort of the signal. A handler that has ended by the
   * time limit has not timed out, even if calls that it left behind are pending.
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
  /** Stops monitoring. Returns the milliseconds since the start of the run, null if it has not started. */
  readonly stop: () => number | null
}

/** Monitors one run from its order on. It measures time in the worker, because code in the runner could prevent a timer there. */
export function monitorRun(
  runner: Runner,
  { owner, timeoutMs, signal }: RunRequest,
  memoryBytes: number,
  scheduler: CpuScheduler,
): RunMonitor {
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
  const stop = (): number | null => {
    clearTimeout(timer)
    stopPolling()
    signal?.removeEventListener('abort', interrupt)
    return startedAt === null ? null : Math.round(performance.now() - startedAt)
  }
  return { end, start, recordHandlerEnd, recordDone, recordOutOfMemory, interrupt, stop }
}
