import { runnerLimits } from '#workers/features/functions/sandbox/limits.ts'
import type { RunEnding, RunRequest } from '#workers/features/functions/sandbox/run-outcome.ts'
import type { Runner } from '#workers/features/functions/sandbox/runner/runner.ts'
import { monitorCpu } from '#workers/features/functions/sandbox/scheduling/cpu-monitor.ts'
import type { CpuScheduler } from '#workers/features/functions/sandbox/scheduling/cpu-scheduler.ts'

/** How a run ended, with its result as JSON text when it returned and its message when it threw. */
export interface RunEnd {
  readonly ending: RunEnding
  readonly text: string
  /** Whether nothing of the run is under way any more, so that its runner can do another. */
  readonly isQuiet: boolean
}

export interface RunMonitor {
  /**
   * Fulfilled with the first of: quiet, the end of the time, too much memory, `interrupt`, the signal. A handler that has come to its end
   * when the time is up has not timed out, whatever calls it left behind.
   */
  readonly end: Promise<RunEnd>
  /** The run has begun in its isolate: from now on its time counts. */
  readonly start: () => void
  /** The handler has come to its end: the first that is told counts. */
  readonly recordHandlerEnd: (ending: 'returned' | 'threw', text: string) => void
  /** No call that the run made is under way. */
  readonly recordQuiet: () => void
  readonly runOutOfMemory: () => void
  readonly interrupt: () => void
  /** Stops watching. Gives the run's milliseconds, or null when it had not begun. */
  readonly stop: () => number | null
}

/** Watches over one run from the moment that its order is given. The clock is the worker's, whatever goes on in the runner. */
export function monitorRun(runner: Runner, { owner, timeoutMs, signal }: RunRequest, memoryBytes: number, turns: CpuScheduler): RunMonitor {
  const { promise: end, resolve } = Promise.withResolvers<RunEnd>()
  const endAs = (ending: RunEnding) => () => resolve({ ending, text: '', isQuiet: false })
  const interrupt = endAs('interrupted')
  const runOutOfMemory = endAs('out_of_memory')
  let settled: Omit<RunEnd, 'isQuiet'> | undefined
  const settle: RunMonitor['recordHandlerEnd'] = (ending, text) => {
    settled ??= { ending, text }
  }
  const quiet = (): void => {
    if (settled) resolve({ ...settled, isQuiet: true })
    else interrupt()
  }
  const runOutOfTime = (): void => {
    if (settled) resolve({ ...settled, isQuiet: false })
    else endAs('timed_out')()
  }
  let startedAt: number | null = null
  let clock = setTimeout(interrupt, runnerLimits.startTimeoutMs)
  const stopLooking = monitorCpu(runner, owner, turns, () => {
    if (runner.grownBytes() > memoryBytes + runnerLimits.marginBytes) runOutOfMemory()
  })
  signal?.addEventListener('abort', interrupt)
  if (signal?.aborted) interrupt()

  const start = (): void => {
    if (startedAt !== null) return
    startedAt = performance.now()
    clearTimeout(clock)
    clock = setTimeout(runOutOfTime, timeoutMs)
  }
  const stop = (): number | null => {
    clearTimeout(clock)
    stopLooking()
    signal?.removeEventListener('abort', interrupt)
    return startedAt === null ? null : Math.round(performance.now() - startedAt)
  }
  return { end, start, recordHandlerEnd: settle, recordQuiet: quiet, runOutOfMemory, interrupt, stop }
}
