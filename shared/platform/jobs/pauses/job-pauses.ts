import type { Database } from '#shared/platform/db/database.ts'
import { listPauses } from '#shared/platform/jobs/pauses/store.ts'
import type { Logger } from '#shared/platform/kernel/log.ts'
import { countRefusal } from '#shared/platform/kernel/process/part.ts'

/** Milliseconds between two reads: a pause whose notification was lost takes hold after this time, well within the promised 2 s. */
const pollMs = 1_000

/**
 * The paused kinds of jobs, as a process knows them: read at its start, after every change, and once a second. One per process that runs
 * jobs or waits for them.
 */
export class JobPauses {
  readonly #database: Database
  readonly #listeners: (() => void)[] = []
  #kinds: ReadonlySet<string> = new Set()
  #log: Logger | undefined
  #timer: NodeJS.Timeout | undefined
  #reading: Promise<void> | undefined
  #again = false

  constructor(database: Database) {
    this.#database = database
  }

  /** Reads the pauses, then keeps them current until `close`. A process calls it before it takes jobs or calls. */
  async open(log: Logger): Promise<void> {
    this.#log = log
    await this.#read()
    this.#timer = setInterval(() => this.refresh(), pollMs)
  }

  /** Whether no job of this kind may start. Always false before `open`. */
  has(kind: string): boolean {
    return this.#kinds.has(kind)
  }

  /** Calls `listener` after every change of the paused kinds. */
  onChange(listener: () => void): void {
    this.#listeners.push(listener)
  }

  /** Reads the pauses again; called when a notification arrives or may have been missed. */
  refresh(): void {
    if (this.#log === undefined) return
    if (this.#reading) {
      this.#again = true
      return
    }
    this.#reading = this.#read()
      // The known pauses hold until the database answers; without it no job is fetched either.
      .catch((error: unknown) => {
        if (!countRefusal(error)) this.#log?.warn({ err: error }, 'could not read the pauses of jobs')
      })
      .finally(() => {
        this.#reading = undefined
        if (this.#again) this.refresh()
      })
  }

  async close(): Promise<void> {
    clearInterval(this.#timer)
    this.#log = undefined
    await this.#reading
  }

  async #read(): Promise<void> {
    this.#again = false
    const kinds = new Set((await listPauses(this.#database)).flatMap((pause) => pause.kinds))
    const isChanged = kinds.symmetricDifference(this.#kinds).size > 0
    this.#kinds = kinds
    if (isChanged) for (const listener of this.#listeners) listener()
  }
}
