import { watch } from '#workers/functions/sandbox/limits.ts'
import type { Ending } from '#workers/functions/sandbox/outcome.ts'
import type { Runner } from '#workers/functions/sandbox/runner.ts'

/** How a run ended, with its result as JSON text when it returned and its message when it threw. */
export interface End {
  readonly ending: Ending
  readonly text: string
}

export interface RunWatch {
  /** Fulfilled with the first of: what `finish` is told, the end of the time, too much memory, `interrupt`, the signal. */
  readonly end: Promise<End>
  /** The run has begun in its isolate: from now on its time counts. */
  readonly start: () => void
  readonly finish: (end: End) => void
  readonly interrupt: () => void
  /** Stops watching. Gives the run's milliseconds, or null when it had not begun. */
  readonly stop: () => number | null
}

/** Watches over one run from the moment that its order is given. The clock is the worker's, whatever goes on in the runner. */
export function watchRun(runner: Runner, timeoutMs: number, memoryBytes: number, signal?: AbortSignal): RunWatch {
  const { promise: end, resolve: finish } = Promise.withResolvers<End>()
  const endAs = (ending: Ending) => () => finish({ ending, text: '' })
  const interrupt = endAs('interrupted')
  const runOutOfMemory = endAs('out_of_memory')
  let startedAt: number | null = null
  let clock = setTimeout(interrupt, watch.startMs)
  const look = setInterval(() => {
    if (runner.grownBytes() > memoryBytes + watch.marginBytes) runOutOfMemory()
    if (runner.busyMs() > watch.eagerMs) runner.giveWay()
  }, watch.lookEveryMs)
  signal?.addEventListener('abort', interrupt)
  if (signal?.aborted) interrupt()

  const start = (): void => {
    if (startedAt !== null) return
    startedAt = performance.now()
    clearTimeout(clock)
    clock = setTimeout(endAs('timed_out'), timeoutMs)
  }
  const stop = (): number | null => {
    clearTimeout(clock)
    clearInterval(look)
    signal?.removeEventListener('abort', interrupt)
    return startedAt === null ? null : Math.round(performance.now() - startedAt)
  }
  return { end, start, finish, interrupt, stop }
}
