import { watch } from '#workers/features/functions/sandbox/limits.ts'
import type { Runner } from '#workers/features/functions/sandbox/runner/runner.ts'
import type { Busy, BusyTurns } from '#workers/features/functions/sandbox/scheduling/cpu-scheduler.ts'

/**
 * Watches what a runner uses on its owner's order: while it is busy it takes turns, and lets everything else go first. `look` hears each
 * time of the processor milliseconds since the order. Gives the way to stop.
 */
export function watchBusy(runner: Runner, owner: string, turns: BusyTurns, look: (busyMs: number) => void): () => void {
  const busyMs = () => runner.busyMs()
  const one: Busy = { owner, busyMs, pause: () => runner.pause(), resume: () => runner.resume() }
  let before = 0
  const clock = setInterval(() => {
    const used = busyMs()
    if (used > watch.eagerMs) {
      runner.giveWay()
      if (used - before >= watch.lookEveryMs / 2) turns.join(one)
    }
    before = used
    look(used)
  }, watch.lookEveryMs)
  turns.begin(one)
  return () => {
    clearInterval(clock)
    turns.leave(one)
  }
}
