import { runnerLimits } from '#workers/features/functions/sandbox/limits.ts'
import type { SourceProblem } from '#workers/features/functions/sandbox/runner/handler-check.ts'
import { toRunner, toWorker } from '#workers/features/functions/sandbox/runner/protocol.ts'
import type { Runner } from '#workers/features/functions/sandbox/runner/runner.ts'
import { monitorCpu } from '#workers/features/functions/sandbox/scheduling/cpu-monitor.ts'
import type { CpuScheduler } from '#workers/features/functions/sandbox/scheduling/cpu-scheduler.ts'

export const tooExpensiveProblem: SourceProblem = Object.freeze({
  line: 1,
  column: 1,
  message: 'the source takes too long or too much memory to parse',
})

/**
 * Has a ready runner compile and parse a source without running it. A source that takes more than two seconds of processor time costs the
 * runner: how busy the machine is with other things says nothing about a source. Undefined means that the runner was lost before that.
 */
export async function checkSourceIn(runner: Runner, source: string, turns: CpuScheduler): Promise<SourceProblem | null | undefined> {
  const found = Promise.withResolvers<SourceProblem | null | undefined>()
  const giveUp = (): void => {
    found.resolve(tooExpensiveProblem)
    runner.kill()
  }
  const stopLooking = monitorCpu(runner, 'check', turns, (busyMs) => {
    if (busyMs > runnerLimits.checkMs) giveUp()
  })
  const clock = setTimeout(giveUp, runnerLimits.checkTimeoutMs)
  runner.order(toRunner.check, source, {
    receive: ({ kind, text }) => {
      if (kind === toWorker.checked) found.resolve(text === '' ? null : JSON.parse(text))
      else runner.kill()
    },
    onLost: () => found.resolve(undefined),
  })
  try {
    return await found.promise
  } finally {
    stopLooking()
    clearTimeout(clock)
  }
}
