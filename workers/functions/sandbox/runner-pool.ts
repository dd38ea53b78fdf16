import type { Launch } from '#workers/functions/sandbox/confinement.ts'
import { watch } from '#workers/functions/sandbox/limits.ts'
import { Runner } from '#workers/functions/sandbox/runner.ts'

export interface RunnerPoolOptions {
  /** Processes at most. They are started when they are first wanted, and replaced when they are lost after that. */
  readonly size: number
  readonly launch: Launch
  readonly program: string
  readonly report: (message: string, details: object) => void
}

/** Holds runner processes and lends each to one user at a time, first come, first served. */
export class RunnerPool {
  readonly #options: RunnerPoolOptions
  readonly #all = new Set<Runner>()
  readonly #idle = new Set<Runner>()
  readonly #turns = new Set<PromiseWithResolvers<Runner>>()
  #isClosed = false

  constructor(options: RunnerPoolOptions) {
    this.#options = options
  }

  get pids(): readonly number[] {
    return [...this.#all].map(({ pid }) => pid)
  }

  /** A runner that stands ready. Rejects when the signal is aborted first, when none can be started, or when the pool is closed. */
  async take(signal?: AbortSignal): Promise<Runner> {
    signal?.throwIfAborted()
    if (this.#isClosed) throw new Error('the function sandbox is closed')
    const [runner] = this.#idle
    if (runner && this.#idle.delete(runner)) return runner
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
    if (runner.hasKeptMemory()) runner.kill()
    else this.#lend(runner)
  }

  /** Kills every runner, whatever it does, and fulfils when the processes are gone. */
  async close(): Promise<void> {
    this.#isClosed = true
    for (const turn of this.#turns) this.#refuse(turn, new Error('the function sandbox is closed'))
    for (const runner of this.#all) runner.kill()
    await Promise.all([...this.#all].map((runner) => runner.gone))
  }

  #grow(): void {
    if (!this.#isClosed && this.#all.size < this.#options.size) void this.#start()
  }

  async #start(): Promise<void> {
    const runner = new Runner(this.#options.launch, this.#options.program)
    this.#all.add(runner)
    const stands = await runner.ready
    if (stands) this.#lend(runner)
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
      this.#idle.add(runner)
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
