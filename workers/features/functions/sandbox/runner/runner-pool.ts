import { runnerLimits } from '#workers/features/functions/sandbox/limits.ts'
import type { LaunchCommand } from '#workers/features/functions/sandbox/runner/confinement.ts'
import { Runner } from '#workers/features/functions/sandbox/runner/runner.ts'

export interface RunnerPoolOptions {
  /** Processes at most. They are started when they are wanted, and ended when they are long idle. */
  readonly size: number
  /** So many stand ready beside those that are lent: whoever comes next need not wait for one that another has lost to be replaced. */
  readonly spare: number
  readonly launch: LaunchCommand
  readonly program: string
  readonly report: (message: string, details: object) => void
}

/** Runners by what they do; one that is being started is busy. */
export interface RunnerCounts {
  readonly busy: number
  readonly idle: number
}

/** Somebody waits for a runner. */
interface Turn extends PromiseWithResolvers<Runner> {
  readonly owner: string
}

/**
 * Holds runner processes and lends each to one user at a time, first come, first served. An owner whose run has cost a runner waits for a
 * new one in its stead: the spare ones are for the others.
 */
export class RunnerPool {
  readonly #options: RunnerPoolOptions
  readonly #all = new Set<Runner>()
  /** Those that nobody has, the longest idle first, with the moment since which. */
  readonly #idle = new Map<Runner, number>()
  readonly #turns = new Set<Turn>()
  /** How many runners an owner has cost that it has not waited for yet. */
  readonly #debts = new Map<string, number>()
  readonly #tidying: NodeJS.Timeout
  #starting = 0
  #isClosed = false

  constructor(options: RunnerPoolOptions) {
    this.#options = options
    this.#tidying = setInterval(() => this.#tidy(), runnerLimits.idleMs / 2).unref()
  }

  get counts(): RunnerCounts {
    return { busy: this.#all.size - this.#idle.size, idle: this.#idle.size }
  }

  get pids(): readonly number[] {
    return [...this.#all].map(({ pid }) => pid)
  }

  /** A runner that stands ready. Rejects when the signal is aborted first, when none can be started, or when the pool is closed. */
  async acquire(owner: string, signal?: AbortSignal): Promise<Runner> {
    signal?.throwIfAborted()
    if (this.#isClosed) throw new Error('the function sandbox is closed')
    const turn = { owner, ...Promise.withResolvers<Runner>() }
    const leave = () => this.#refuse(turn, signal?.reason)
    signal?.addEventListener('abort', leave)
    this.#turns.add(turn)
    this.#serve()
    this.#grow()
    try {
      return await turn.promise
    } finally {
      signal?.removeEventListener('abort', leave)
    }
  }

  /** Takes a runner back, dead or alive; it is lent again once it stands ready, or replaced when it does not soon. */
  async release(owner: string, runner: Runner): Promise<void> {
    const deadline = setTimeout(() => runner.kill(), runnerLimits.resetTimeoutMs)
    const stands = await runner.ready
    clearTimeout(deadline)
    if (stands && !runner.isWorn()) return this.#lend(runner)
    runner.kill()
    this.#debts.set(owner, (this.#debts.get(owner) ?? 0) + 1)
  }

  /** Kills every runner, whatever it does, and fulfils when the processes are gone. */
  async close(): Promise<void> {
    this.#isClosed = true
    clearInterval(this.#tidying)
    for (const turn of this.#turns) this.#refuse(turn, new Error('the function sandbox is closed'))
    for (const runner of this.#all) runner.kill()
    await Promise.all([...this.#all].map((runner) => runner.gone))
  }

  /** Ends runners that nobody has wanted for a while: they were started for a rush that is over. What was owed so long is forgotten. */
  #tidy(): void {
    this.#debts.clear()
    for (const [runner, since] of [...this.#idle].slice(0, -Math.max(1, this.#options.spare))) {
      if (performance.now() - since < runnerLimits.idleMs) return
      this.#idle.delete(runner)
      runner.kill()
    }
  }

  // To start one keeps a core busy for some 50 ms, so not all are started at once when several runs time out together, and those that are
  // owed are started one by one.
  #grow(): void {
    const { size, spare } = this.#options
    const areWantedBy = (turns: number) => turns + spare > this.#idle.size + this.#starting
    const atOnce = () =>
      areWantedBy([...this.#turns].filter(({ owner }) => !this.#debts.has(owner)).length) ? runnerLimits.concurrentStarts : 1
    while (!this.#isClosed && this.#all.size < size && areWantedBy(this.#turns.size) && this.#starting < atOnce()) void this.#start()
  }

  async #start(): Promise<void> {
    const runner = new Runner(this.#options.launch, this.#options.program)
    this.#all.add(runner)
    this.#starting += 1
    const stands = await runner.ready
    this.#starting -= 1
    if (stands) {
      this.#lend(runner)
      this.#grow()
    }
    await runner.gone
    this.#all.delete(runner)
    this.#idle.delete(runner)
    const { pid, stderrTail } = runner
    if (!stands && !this.#isClosed) {
      this.#options.report('a function runner did not start', { pid, lastWords: stderrTail })
      const [turn] = this.#turns
      if (turn) this.#refuse(turn, new Error(`a function runner did not start: ${stderrTail}`))
    }
    if (stands || this.#turns.size > 0) this.#grow()
  }

  #lend(runner: Runner): void {
    this.#idle.set(runner, performance.now())
    this.#serve()
  }

  /** Gives the runners that stand ready to those whose turn it is. */
  #serve(): void {
    const { size, spare } = this.#options
    for (const turn of this.#turns) {
      const debt = this.#debts.get(turn.owner) ?? 0
      const runner = [...this.#idle.keys()].at(-1)
      if (!runner || this.#idle.size <= (debt > 0 ? Math.min(spare, size - 1) : 0)) continue
      this.#idle.delete(runner)
      this.#turns.delete(turn)
      if (debt > 1) this.#debts.set(turn.owner, debt - 1)
      else this.#debts.delete(turn.owner)
      turn.resolve(runner)
    }
  }

  #refuse(turn: Turn, reason: unknown): void {
    this.#turns.delete(turn)
    turn.reject(reason)
  }
}
