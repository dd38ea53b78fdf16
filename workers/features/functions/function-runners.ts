import type { SdkMethod } from '#shared/core/automation/sdk-method.ts'
import { invokeFunctionJob, runFunctionJob } from '#shared/features/functions/jobs.ts'
import { functionLimits } from '#shared/features/functions/limits.ts'
import type { Logger } from '#shared/platform/kernel/log.ts'
import { runnerLimits } from '#workers/features/functions/sandbox/limits.ts'
import type { RunnerCounts } from '#workers/features/functions/sandbox/runner/runner-pool.ts'
import { Sandbox } from '#workers/features/functions/sandbox/sandbox.ts'
import { createCpuScheduler } from '#workers/features/functions/sandbox/scheduling/cpu-scheduler.ts'
import { createHeavyWorkQueue } from '#workers/features/functions/sandbox/scheduling/heavy-work.ts'

/**
 * The sandboxes of one worker process. A run that invokes another one keeps its runner process while it waits, so each call depth has its
 * own runners. Runs at the maximum depth never wait for others, so there is no deadlock. Runners are started on first use.
 */
export class FunctionRunners {
  readonly #logger: Logger
  /** SDK methods by name. */
  readonly sdkMethods: ReadonlyMap<string, SdkMethod>
  /** Queue for work on long texts of all runs; works on one text at a time. */
  readonly heavy = createHeavyWorkQueue()
  /** Shares CPU time among the busy runs of all depths. */
  readonly #cpuScheduler = createCpuScheduler()
  readonly #byDepth = new Map<number, Sandbox>()

  constructor(logger: Logger, sdkMethods: readonly SdkMethod[]) {
    this.#logger = logger
    this.sdkMethods = new Map(sdkMethods.map((method) => [method.name, method]))
  }

  /** The sandbox for runs of a call depth. It has enough runners for the most attempts of this process (`freeSlots`). */
  sandboxAt(depth: number): Sandbox {
    const known = this.#byDepth.get(depth)
    if (known) return known
    const most = ({ concurrency }: { readonly concurrency: number }) => 2 * concurrency - functionLimits.runsPerWorkspace
    const size = most(invokeFunctionJob) + most(runFunctionJob) + runnerLimits.spareRunners
    const sandbox = new Sandbox({
      size,
      memoryMb: functionLimits.memoryMb,
      heavyWork: this.heavy,
      cpuScheduler: this.#cpuScheduler,
      logger: this.#logger,
    })
    this.#byDepth.set(depth, sandbox)
    return sandbox
  }

  /** Number of busy and of idle runner processes. */
  get counts(): RunnerCounts {
    const counts = [...this.#byDepth.values()].map((sandbox) => sandbox.counts)
    return { busy: counts.reduce((sum, { busy }) => sum + busy, 0), idle: counts.reduce((sum, { idle }) => sum + idle, 0) }
  }

  /** Ends every run as interrupted. */
  async close(): Promise<void> {
    await Promise.all([...this.#byDepth.values()].map((sandbox) => sandbox.close()))
  }
}
