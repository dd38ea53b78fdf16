import { runnerLimits } from '#workers/features/functions/sandbox/limits.ts'
import type { Runner } from '#workers/features/functions/sandbox/runner/runner.ts'
import type { CpuConsumer, CpuScheduler } from '#workers/features/functions/sandbox/scheduling/cpu-scheduler.ts'

/**
 * Watches what a runner uses on its owner's order: while it is busy it takes turns, and lets everything else go first. `look` hears each
 * time of the processor milliseconds since the order. Gives the way to stop.
 */
export function monitorCpu(runner: Runner, owner: string, turns: CpuScheduler, look: (busyMs: number) => void): () => void {
  const busyMs = () => runner.busyMs()
  const one: CpuConsumer = { owner, busyMs, pause: () => runner.pause(), resume: () => runner.resume() }
  let before = 0
  const clock = setInterval(() => {
    const used = busyMs()
    if (used > runnerLimits.fullPriorityMs) {
      runner.lowerPriority()
      if (used - before >= runnerLimits.pollIntervalMs / 2) turns.reportBusy(one)
    }
    before = used
    look(used)
  }, runnerLimits.pollIntervalMs)
  turns.begin(one)
  return () => {
    clearInterval(clock)
    turns.leave(one)
  }
}
