import { runnerLimits } from '#workers/features/functions/sandbox/limits.ts'
import type { LaunchCommand } from '#workers/features/functions/sandbox/runner/confinement.ts'
import { Runner } from '#workers/features/functions/sandbox/runner/runner.ts'

interface RunnerPoolOptions {
  /** Maximum number of processes. They are started on demand and ended when they have been idle for long. */
  readonly size: number
  /** Idle runners to keep ready, so that a request need not wait until another owner's lost runner is replaced. */
  readonly spare: number
  readonly launch: LaunchCommand
  readonly program: string
  readonly report: (message: string, details: object) => void
}

/** Numbers of runners; a starting runner counts as busy. */
export interface RunnerCounts {
  readonly busy: number
  readonly idle: number
}

/** A request that waits for a runner. */
interface WaitingRequest extends PromiseWithResolvers<Runner> {
  readonly owner: string
}

/**
 * Keeps runner processes and lends each for one order at a time, first come, first served. An `owner` is the workspace of a run, or `check`
 * for all checks of sources. An owner whose order has cost a runner is in debt: it gets its next runner only if the spare ones remain idle
 * for other owners.
 */
export class RunnerPool {
  readonly #options: RunnerPoolOptions
  readonly #all = new Set<Runner>()
  /** Idle runners and when each became idle, the longest idle first. */
  readonly #idle = new Map<Runner, number>()
  readonly #waiting = new Set<WaitingRequest>()
  /** Number of runners that each owner has cost, less those that it has been lent since. */
  readonly #debts = new Map<string, number>()
  readonly #idleTimer: NodeJS.Timeout
  #starting = 0
  #isClosed = false

  constructor(options: RunnerPoolOptions) {
    this.#options = options
    this.#idleTimer = setInterval(() => this.#endIdleRunners(), runnerLimits.idleMs / 2).unref()
  }

  get counts(): RunnerCounts {
    return { busy: this.#all.size - this.#idle.size, idle: this.#idle.size }
  }

  get pids(): readonly number[] {
    return [...this.#all].map(({ pid }) => pid)
  }

  /** Returns a ready runner. Rejects when the signal is aborted first, when no runner can be started, or when the pool is closed. */
  async acquire(owner: string, signal?: AbortSignal): Promise<Runner> {
    signal?.throwIfAborted()
    if (this.#isClosed) throw new Error('the function sandbox is closed')
    const request = { owner, ...Promise.withResolvers<Runner>() }
    const abort = () => this.#refuse(request, signal?.reason)
    signal?.addEventListener('abort', abort)
    this.#waiting.add(request)
    this.#serve()
    this.#grow()
    try {
      return await request.promise
    } finally {
      signal?.removeEventListener('abort', abort)
    }
  }

  /** Takes a runner back, dead or alive. One that is worn, or not ready within `resetTimeoutMs`, is killed: the owner's debt grows. */
  async release(owner: string, runner: Runner): Promise<void> {
    const deadline = setTimeout(() => runner.kill(), runnerLimits.resetTimeoutMs)
    const isReady = await runner.ready
    clearTimeout(deadline)
    if (isReady && !runner.isWorn()) return this.#addIdle(runner)
    runner.kill()
    this.#debts.set(owner, (this.#debts.get(owner) ?? 0) + 1)
  }

  /** Kills every runner, also busy ones; fulfilled when the processes are gone. */
  async close(): Promise<void> {
    this.#isClosed = true
    clearInterval(this.#idleTimer)
    for (const request of this.#waiting) this.#refuse(request, new Error('the function sandbox is closed'))
    for (const runner of this.#all) runner.kill()
    await Promise.all([...this.#all].map((runner) => runner.gone))
  }

  /** Ends runners that have been idle for long, except the spare ones and at least one. Forgets all debts. */
  #endIdleRunners(): void {
    this.#debts.clear()
    for (const [runner, since] of [...this.#idle].slice(0, -Math.max(1, this.#options.spare))) {
      if (performance.now() - since < runnerLimits.idleMs) return
      this.#idle.delete(runner)
      runner.kill()
    }
  }

  // A start takes about 50 ms of a core, and several runs may time out together, so at most `concurrentStarts` start at once. When only
  // owners in debt still lack a runner, they start one at a time.
  #grow(): void {
    const { size, spare } = this.#options
    const needsStartFor = (requests: number) => requests + spare > this.#idle.size + this.#starting
    const maxStarting = () =>
      needsStartFor([...this.#waiting].filter(({ owner }) => !this.#debts.has(owner)).length) ? runnerLimits.concurrentStarts : 1
    while (!this.#isClosed && this.#all.size < size && needsStartFor(this.#waiting.size) && this.#starting < maxStarting())
      void this.#start()
  }

  async #start(): Promise<void> {
    const runner = new Runner(this.#options.launch, this.#options.program)
    this.#all.add(runner)
    this.#starting += 1
    const isReady = await runner.ready
    this.#starting -= 1
    if (isReady) {
      this.#addIdle(runner)
      this.#grow()
    }
    await runner.gone
    this.#all.delete(runner)
    this.#idle.delete(runner)
    const { pid, stderrTail } = runner
    if (!isReady && !this.#isClosed) {
      this.#options.report('a function runner did not start', { pid, stderrTail })
      const [request] = this.#waiting
      if (request) this.#refuse(request, new Error(`a function runner did not start: ${stderrTail}`))
    }
    if (isReady || this.#waiting.size > 0) this.#grow()
  }

  #addIdle(runner: Runner): void {
    this.#idle.set(runner, performance.now())
    this.#serve()
  }

  /** Lends idle runners to waiting requests. An owner in debt gets one only if the spare runners, at most all but one, remain idle. */
  #serve(): void {
    const { size, spare } = this.#options
    for (const request of this.#waiting) {
      const debt = this.#debts.get(request.owner) ?? 0
      const runner = [...this.#idle.keys()].at(-1)
      if (!runner || this.#idle.size <= (debt > 0 ? Math.min(spare, size - 1) : 0)) continue
      this.#idle.delete(runner)
      this.#waiting.delete(request)
      if (debt > 1) this.#debts.set(request.owner, debt - 1)
      else this.#debts.delete(request.owner)
      request.resolve(runner)
    }
  }

  #refuse(request: WaitingRequest, reason: unknown): void {
    this.#waiting.delete(request)
    request.reject(reason)
  }
}
