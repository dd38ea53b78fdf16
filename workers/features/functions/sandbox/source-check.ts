import { runnerLimits } from '#workers/features/functions/sandbox/limits.ts'
import type { SourceProblem } from '#workers/features/functions/sandbox/runner/handler-check.ts'
import { toRunner, toWorker } from '#workers/features/functions/sandbox/runner/protocol.ts'
import type { Runner } from '#workers/features/functions/sandbox/runner/runner.ts'
import { type CpuScheduler, monitorCpu } from '#workers/features/functions/sandbox/scheduling/cpu-scheduler.ts'

export const tooExpensiveProblem: SourceProblem = Object.freeze({
  line: 1,
  column: 1,
  message: 'the source takes too long or too much memory to parse',
})

/**
 * Compiles and parses a source in a ready runner without executing it. The limit is CPU time (`checkMs`), so the result does not depend on
 * how busy the machine is. A runner whose source exceeds the limit is killed. Returns the source's problem, null if there is none, and
 * undefined when the runner was lost before it answered.
 */
export async function checkSourceIn(runner: Runner, source: string, scheduler: CpuScheduler): Promise<SourceProblem | null | undefined> {
  const found = Promise.withResolvers<SourceProblem | null | undefined>()
  const giveUp = (): void => {
    found.resolve(tooExpensiveProblem)
    runner.kill()
  }
  const stopPolling = monitorCpu(runner, 'check', scheduler, (busyMs) => {
    if (busyMs > runnerLimits.checkMs) giveUp()
  })
  const timer = setTimeout(giveUp, runnerLimits.checkTimeoutMs)
  runner.order(toRunner.check, 0, source, {
    receive: ({ kind, text }) => {
      if (kind === toWorker.checked) found.resolve(text === '' ? null : JSON.parse(text))
      else runner.kill()
    },
    onLost: () => found.resolve(undefined),
  })
  try {
    return await found.promise
  } finally {
    stopPolling()
    clearTimeout(timer)
  }
}
