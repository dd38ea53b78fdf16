import { chores } from '#shared/chores.ts'
import type { Executor } from '#shared/db/database.ts'
import { setChores } from '#shared/due/chores.ts'
import { fileDue } from '#shared/due/file.ts'
import type { DueKind } from '#shared/due/kind.ts'
import { choreKind, dueKinds } from '#shared/due-kinds.ts'
import type { Logger } from '#shared/kernel/log.ts'
import type { Queue } from '#shared/queue/queue.ts'

/** What falls due is filed this much later at most. */
const pollMs = 1_000

/** Rows that are filed in one transaction. */
const lotSize = 500

interface Services {
  readonly db: Executor
  readonly queue: Queue
  readonly log: Logger
  readonly now: () => Date
}

/** Files the jobs of what falls due, in lots. Several processes share the work: none takes what another is taking. */
export class Scheduler {
  readonly #services: Services
  readonly #kinds: readonly DueKind<unknown>[]
  #timer: NodeJS.Timeout | undefined
  #working: Promise<void> | undefined
  #again = false
  #hasChores = false
  #stopped = false

  constructor(services: Services, kinds: readonly DueKind<unknown>[] = dueKinds) {
    this.#services = services
    this.#kinds = kinds
  }

  start(): void {
    this.#timer = setInterval(() => this.wake(), pollMs)
    this.wake()
  }

  /** Looks for what is due now. */
  wake(): void {
    this.#again = true
    if (this.#working || this.#stopped) return
    this.#working = this.#work().finally(() => {
      this.#working = undefined
      if (this.#again) this.wake()
    })
  }

  /** Nothing signals that work falls due: the clock does. */
  goesBy(): boolean {
    return false
  }

  /** Whether nothing is being filed. */
  get idle(): boolean {
    return !this.#working
  }

  /** Ends with the lot that is being filed. */
  async stop(): Promise<void> {
    this.#stopped = true
    clearInterval(this.#timer)
    await this.#working
  }

  async #work(): Promise<void> {
    const { db, log } = this.#services
    while (this.#again && !this.#stopped) {
      this.#again = false
      try {
        if (!this.#hasChores) await setChores(db, choreKind, chores, this.#services.now())
        this.#hasChores = true
        this.#again = (await fileDue(this.#services, this.#kinds, lotSize)) === lotSize || this.#again
      } catch (error) {
        log.warn({ err: error }, 'could not file what is due')
      }
    }
    this.#again = false
  }
}
