import { invokeFunctionJob, runFunctionJob } from '#shared/features/functions/jobs.ts'
import { functionLimits } from '#shared/features/functions/limits.ts'
import type { Logger } from '#shared/platform/kernel/log.ts'
import { runnerLimits } from '#workers/features/functions/sandbox/limits.ts'
import type { RunnerCounts } from '#workers/features/functions/sandbox/runner/runner-pool.ts'
import { Sandbox } from '#workers/features/functions/sandbox/sandbox.ts'
import { createCpuScheduler } from '#workers/features/functions/sandbox/scheduling/cpu-scheduler.ts'
import { createHeavyWorkQueue } from '#workers/features/functions/sandbox/scheduling/heavy-work.ts'

/**
 * The sandboxes of one worker process. A run that invokes another waits for it on its own runner, so runs of each depth have runners of
 * their own: those of the deepest wait for nobody, and so nobody waits for ever. Runners are processes, started when they are first wanted.
 */
export class FunctionRunners {
  readonly #logger: Logger
  /** Long texts of all its runs, one at a time. */
  readonly heavy = createHeavyWorkQueue()
  /** Its busy runs take turns, whatever their depth. */
  readonly #turns = createCpuScheduler()
  readonly #byDepth = new Map<number, Sandbox>()

  constructor(logger: Logger) {
    this.#logger = logger
  }

  /** The sandbox for runs that so many other runs are waiting for. Its runners suffice for the jobs that this process takes. */
  sandboxAt(depth: number): Sandbox {
    const known = this.#byDepth.get(depth)
    if (known) return known
    const size = invokeFunctionJob.concurrency + runFunctionJob.concurrency + runnerLimits.spareRunners
    const sandbox = new Sandbox({
      size,
      memoryMb: functionLimits.memoryMb,
      heavyWork: this.heavy,
      cpuScheduler: this.#turns,
      logger: this.#logger,
    })
    this.#byDepth.set(depth, sandbox)
    return sandbox
  }

  /** How many processes run something now, and how many stand ready. */
  get counts(): RunnerCounts {
    const counts = [...this.#byDepth.values()].map((sandbox) => sandbox.counts)
    return { busy: counts.reduce((sum, { busy }) => sum + busy, 0), idle: counts.reduce((sum, { idle }) => sum + idle, 0) }
  }

  /** Ends every run as interrupted. */
  async close(): Promise<void> {
    await Promise.all([...this.#byDepth.values()].map((sandbox) => sandbox.close()))
  }
}
