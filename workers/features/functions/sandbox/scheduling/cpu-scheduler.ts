import { availableParallelism } from 'node:os'
import { runnerLimits } from '#workers/features/functions/sandbox/limits.ts'
import type { Runner } from '#workers/features/functions/sandbox/runner/runner.ts'

/** Work that can be paused while other work has the CPU. */
export interface CpuConsumer {
  /** The workspace that it works for; `check` for checks of sources. */
  readonly owner: string
  /** Milliseconds of CPU time that it has used. */
  readonly busyMs: () => number
  readonly pause: () => void
  readonly resume: () => void
}

/** Gives busy consumers time slices where they are too many for the cores that they may use. */
export interface CpuScheduler {
  /** Adds a consumer. It gets time slices at once if its owner is heavy (`heavyOwnerMs`), otherwise from its first `reportBusy` on. */
  readonly begin: (consumer: CpuConsumer) => void
  /** Reports that a consumer has used the CPU since the last poll. */
  readonly reportBusy: (consumer: CpuConsumer) => void
  /** Removes a consumer that has ended, and resumes it if it was paused. */
  readonly leave: (consumer: CpuConsumer) => void
}

/**
 * Creates a scheduler that keeps cores free of busy runs. A run with a waiting caller takes many short steps in several processes. If every
 * core is taken, each step waits for the end of a kernel slice, about 3 ms, whatever the priorities. Measured on four cores beside four
 * endless functions: a short run took 2 times its usual time at the median and 2.7 times at the 95th percentile without this scheduler, and
 * 1.3 times with it. For `shortRunWindowMs` after the end of a short run, busy runs share a quarter of the cores, later all of them.
 */
export function createCpuScheduler(cores = availableParallelism()): CpuScheduler {
  /** Scheduled consumers in the order of their turns, and the CPU time that each had used when its slice began; undefined while paused. */
  const scheduled = new Map<CpuConsumer, number | undefined>()
  /** When a heavy consumer of each owner was last seen busy. */
  const heavyBusyAt = new Map<string, number>()
  let shortRunEndedAt = Number.NEGATIVE_INFINITY
  let timer: NodeJS.Timeout | undefined

  const pauseAndResume = (): void => {
    const hasShortRuns = performance.now() - shortRunEndedAt <= runnerLimits.shortRunWindowMs
    let slots = hasShortRuns ? Math.max(1, Math.floor(cores / 4)) : cores
    for (const [consumer, usedMs] of scheduled) {
      const mayRun = slots-- > 0
      if (mayRun === (usedMs !== undefined)) continue
      scheduled.set(consumer, mayRun ? consumer.busyMs() : undefined)
      if (mayRun) consumer.resume()
      else consumer.pause()
    }
    if (scheduled.size > 1) timer ??= setInterval(endSlices, runnerLimits.sliceMs)
    else timer = void clearInterval(timer)
  }

  // A consumer that used less than half of its slice waits for something else; it runs freely until it is reported busy again.
  const endSlices = (): void => {
    for (const [consumer, usedMs] of [...scheduled]) {
      if (usedMs === undefined) continue
      scheduled.delete(consumer)
      moveToEnd(consumer.owner)
      if (consumer.busyMs() - usedMs >= runnerLimits.sliceMs / 2) scheduled.set(consumer, consumer.busyMs())
    }
    pauseAndResume()
  }

  /** Moves an owner's paused consumers behind all others, so that slices rotate by owner, however many consumers an owner has. */
  const moveToEnd = (owner: string): void => {
    for (const [consumer, usedMs] of [...scheduled]) {
      if (consumer.owner !== owner || usedMs !== undefined) continue
      scheduled.delete(consumer)
      scheduled.set(consumer, usedMs)
    }
  }

  const add = (consumer: CpuConsumer): void => {
    scheduled.set(consumer, consumer.busyMs())
    pauseAndResume()
  }

  return {
    begin: (consumer) => {
      for (const [owner, at] of heavyBusyAt) if (performance.now() - at > runnerLimits.heavyOwnerWindowMs) heavyBusyAt.delete(owner)
      if (heavyBusyAt.has(consumer.owner)) add(consumer)
    },
    reportBusy: (consumer) => {
      if (consumer.busyMs() > runnerLimits.heavyOwnerMs) heavyBusyAt.set(consumer.owner, performance.now())
      if (!scheduled.has(consumer)) add(consumer)
    },
    leave: (consumer) => {
      if (consumer.busyMs() <= runnerLimits.fullPriorityMs) shortRunEndedAt = performance.now()
      if (!scheduled.has(consumer)) return
      const isPaused = scheduled.get(consumer) === undefined
      scheduled.delete(consumer)
      if (isPaused) consumer.resume()
      pauseAndResume()
    },
  }
}

/**
 * Polls a runner that executes an order for an owner. Once the runner is busy, its priority is lowered and it gets time slices. `onPoll`
 * receives the milliseconds of CPU time since the order. The returned function ends the polling, and returns the milliseconds that were used.
 */
export function monitorCpu(runner: Runner, owner: string, scheduler: CpuScheduler, onPoll: (busyMs: number) => void): () => number {
  const busyMs = () => runner.busyMs()
  const consumer: CpuConsumer = { owner, busyMs, pause: () => runner.pause(), resume: () => runner.resume() }
  const began = runner.cpuMs()
  let before = 0
  const timer = setInterval(() => {
    const used = busyMs()
    if (used > runnerLimits.fullPriorityMs) {
      runner.lowerPriority()
      if (used - before >= runnerLimits.pollIntervalMs / 2) scheduler.reportBusy(consumer)
    }
    before = used
    onPoll(used)
  }, runnerLimits.pollIntervalMs)
  scheduler.begin(consumer)
  return () => {
    clearInterval(timer)
    scheduler.leave(consumer)
    // A runner that has ended says 0.
    return Math.max(before, runner.cpuMs() - began)
  }
}
