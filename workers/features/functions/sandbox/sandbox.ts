import { problem } from '#shared/platform/kernel/errors.ts'
import { runLimits, runnerLimits } from '#workers/features/functions/sandbox/limits.ts'
import { executeIn, type SharedSchedulers } from '#workers/features/functions/sandbox/run.ts'
import { neverStartedOutcome, type RunOutcome, type RunRequest } from '#workers/features/functions/sandbox/run-outcome.ts'
import { buildLaunchCommand, runnerFiles } from '#workers/features/functions/sandbox/runner/confinement.ts'
import type { SourceProblem } from '#workers/features/functions/sandbox/runner/handler-check.ts'
import { programText } from '#workers/features/functions/sandbox/runner/program.ts'
import { type RunnerCounts, RunnerPool } from '#workers/features/functions/sandbox/runner/runner-pool.ts'
import { type CpuScheduler, createCpuScheduler } from '#workers/features/functions/sandbox/scheduling/cpu-scheduler.ts'
import { createHeavyWorkQueue, type HeavyWorkQueue } from '#workers/features/functions/sandbox/scheduling/heavy-work.ts'
import { checkSourceIn, tooExpensiveProblem } from '#workers/features/functions/sandbox/source-check.ts'

interface SandboxOptions {
  /** Maximum number of concurrent runs. Each has a process; further runs wait. */
  readonly size: number
  /** Memory of one run in MB (docs/contract/functions.md#run-limits). */
  readonly memoryMb: number
  /** The scheduler of the process, for a process with several sandboxes. By default the sandbox has one of its own. */
  readonly cpuScheduler?: CpuScheduler
  /** The heavy work queue of the process, for a process with several sandboxes. By default the sandbox has one of its own. */
  readonly heavyWork?: HeavyWorkQueue
  /** Receives SDK calls that failed without a Problem and runners that did not start. */
  readonly logger?: { warn(details: object, message: string): void }
}

/** Runs untrusted JavaScript in processes without access to the platform. It owns these processes: close it when done. */
export class Sandbox {
  readonly #runs: RunnerPool
  readonly #checks: RunnerPool
  readonly #memoryBytes: number
  readonly #shared: SharedSchedulers
  readonly #report: (message: string, details: object) => void

  constructor({ size, memoryMb, logger, heavyWork = createHeavyWorkQueue(), cpuScheduler = createCpuScheduler() }: SandboxOptions) {
    this.#shared = { heavyWork, cpuScheduler }
    this.#memoryBytes = memoryMb * 1024 * 1024
    this.#report = (message, details) => logger?.warn(details, message)
    const files = runnerFiles()
    const pool = { launch: buildLaunchCommand(files), program: programText(files, memoryMb), report: this.#report }
    this.#runs = new RunnerPool({ ...pool, size, spare: runnerLimits.spareRunners })
    this.#checks = new RunnerPool({ ...pool, size: runnerLimits.concurrentChecks, spare: 0 })
  }

  /**
   * Executes a run. Errors that the function throws are outcomes. Rejects with VALIDATION_ERROR when source or input exceed the limits, and
   * with a plain Error when no runner can be started or the sandbox is closed.
   */
  async run(request: RunRequest): Promise<RunOutcome> {
    requireSize(request)
    let failure: unknown
    for (let attempt = 1; attempt <= runnerLimits.attempts; attempt++) {
      if (request.signal?.aborted) return neverStartedOutcome
      try {
        const runner = await this.#runs.acquire(request.owner, request.signal)
        const outcome = await executeIn(runner, request, this.#memoryBytes, this.#shared, this.#report)
        void this.#runs.release(request.owner, runner)
        if (outcome) return outcome
      } catch (error) {
        failure = error
      }
    }
    if (request.signal?.aborted) return neverStartedOutcome
    throw failure ?? new Error('no function runner took the run')
  }

  /**
   * Checks a source without executing it. Returns null for a valid source: it has at most 256 KB, parses as a script, and binds a function
   * named `handler` at top level (docs/contract/functions.md#source). Checks have their own runners, so that no run waits for them.
   */
  async checkSource(source: string): Promise<SourceProblem | null> {
    if (Buffer.byteLength(source) > runLimits.sourceBytes) return { line: 1, column: 1, message: 'the source must have at most 256 KB' }
    for (let attempt = 1; attempt <= runnerLimits.checkAttempts; attempt++) {
      const runner = await this.#checks.acquire('check')
      const found = await checkSourceIn(runner, source, this.#shared.cpuScheduler)
      void this.#checks.release('check', runner)
      if (found !== undefined) return found
    }
    return tooExpensiveProblem
  }

  /** The numbers of runners for runs, without those for checks. */
  get counts(): RunnerCounts {
    return this.#runs.counts
  }

  /** Process ids of all runners. */
  get pids(): readonly number[] {
    return [...this.#runs.pids, ...this.#checks.pids]
  }

  /** Ends every run as interrupted; fulfilled when all processes are gone. */
  async close(): Promise<void> {
    await Promise.all([this.#runs.close(), this.#checks.close()])
  }
}

function requireSize({ source, inputText }: RunRequest): void {
  if (Buffer.byteLength(source) > runLimits.sourceBytes) throw problem('VALIDATION_ERROR', 'source must have at most 256 KB')
  if (inputText.length <= runLimits.jsonCharacters) return
  throw problem('VALIDATION_ERROR', `input must have at most ${runLimits.jsonCharacters} characters of JSON, got ${inputText.length}`)
}
