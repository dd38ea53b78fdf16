import type { Launch } from '#workers/functions/sandbox/confinement.ts'
import { watch } from '#workers/functions/sandbox/limits.ts'
import { Runner } from '#workers/functions/sandbox/runner.ts'

export interface RunnerPoolOptions {
  /** Processes at most. They are started when they are wanted, and ended when they are long idle. */
  readonly size: number
  /** So many stand ready beside those that are lent: whoever comes next need not wait for one that is lost to be replaced. */
  readonly spare: number
  readonly launch: Launch
  readonly program: string
  readonly report: (message: string, details: object) => void
}

/** Runners by what they do; one that is being started is busy. */
export interface RunnerCounts {
  readonly busy: number
  readonly idle: number
}

/** Holds runner processes and lends each to one user at a time, first come, first served. */
export class RunnerPool {
  readonly #options: RunnerPoolOptions
  readonly #all = new Set<Runner>()
  /** Those that nobody has, the longest idle first, with the moment since which. */
  readonly #idle = new Map<Runner, number>()
  readonly #turns = new Set<PromiseWithResolvers<Runner>>()
  readonly #tidying: NodeJS.Timeout
  #starting = 0
  #isClosed = false

  constructor(options: RunnerPoolOptions) {
    this.#options = options
    this.#tidying = setInterval(() => this.#tidy(), watch.idleMs / 2).unref()
  }

  get counts(): RunnerCounts {
    return { busy: this.#all.size - this.#idle.size, idle: this.#idle.size }
  }

  get pids(): readonly number[] {
    return [...this.#all].map(({ pid }) => pid)
  }

  /** A runner that stands ready. Rejects when the signal is aborted first, when none can be started, or when the pool is closed. */
  async take(signal?: AbortSignal): Promise<Runner> {
    signal?.throwIfAborted()
    if (this.#isClosed) throw new Error('the function sandbox is closed')
    const runner = [...this.#idle.keys()].at(-1)
    if (runner && this.#idle.delete(runner)) {
      this.#grow()
      return runner
    }
    const turn = Promise.withResolvers<Runner>()
    const leave = () => this.#refuse(turn, signal?.reason)
    signal?.addEventListener('abort', leave)
    this.#turns.add(turn)
    this.#grow()
    try {
      return await turn.promise
    } finally {
      signal?.removeEventListener('abort', leave)
    }
  }

  /** Takes a runner back, dead or alive; it is lent again once it stands ready, or replaced when it does not soon. */
  async giveBack(runner: Runner): Promise<void> {
    const deadline = setTimeout(() => runner.kill(), watch.restMs)
    const stands = await runner.ready
    clearTimeout(deadline)
    if (!stands) return
    if (runner.isWorn()) runner.kill()
    else this.#lend(runner)
  }

  /** Kills every runner, whatever it does, and fulfils when the processes are gone. */
  async close(): Promise<void> {
    this.#isClosed = true
    clearInterval(this.#tidying)
    for (const turn of this.#turns) this.#refuse(turn, new Error('the function sandbox is closed'))
    for (const runner of this.#all) runner.kill()
    await Promise.all([...this.#all].map((runner) => runner.gone))
  }

  /** Ends runners that nobody has wanted for a while: they were started for a rush that is over. */
  #tidy(): void {
    for (const [runner, since] of [...this.#idle].slice(0, -Math.max(1, this.#options.spare))) {
      if (performance.now() - since < watch.idleMs) return
      this.#idle.delete(runner)
      runner.kill()
    }
  }

  // To start one keeps a core busy for some 50 ms, so not all are started at once when several runs time out together.
  #grow(): void {
    const { size, spare } = this.#options
    const isWanted = () => this.#turns.size + spare > this.#idle.size + this.#starting
    while (!this.#isClosed && this.#all.size < size && this.#starting < watch.startsAtOnce && isWanted()) void this.#start()
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
    const { pid, lastWords } = runner
    if (!stands && !this.#isClosed) {
      this.#options.report('a function runner did not start', { pid, lastWords })
      const [turn] = this.#turns
      if (turn) this.#refuse(turn, new Error(`a function runner did not start: ${lastWords}`))
    }
    if (stands || this.#turns.size > 0) this.#grow()
  }

  #lend(runner: Runner): void {
    const [turn] = this.#turns
    if (!turn) {
      this.#idle.set(runner, performance.now())
      return
    }
    this.#turns.delete(turn)
    turn.resolve(runner)
  }

  #refuse(turn: PromiseWithResolvers<Runner>, reason: unknown): void {
    this.#turns.delete(turn)
    turn.reject(reason)
  }
}
