/** Maximum number of keys counted between two writes; further keys are ignored. */
const maxKeys = 10_000

/**
 * Counts by key in memory and writes all counts together `delayMs` after the first, so that counting is cheap. Counts are lost in a crash or
 * a failed write.
 */
export class BufferedCounter {
  readonly #write: (counts: ReadonlyMap<string, number>) => Promise<void>
  readonly #delayMs: number
  #counts = new Map<string, number>()
  #timer: NodeJS.Timeout | undefined
  #writing: Promise<void> = Promise.resolve()

  /** `write` receives counts by key; it must not reject. */
  constructor(delayMs: number, write: (counts: ReadonlyMap<string, number>) => Promise<void>) {
    this.#delayMs = delayMs
    this.#write = write
  }

  /** Increments the count of a key. */
  count(key: string): void {
    const count = this.#counts.get(key) ?? 0
    if (count === 0 && this.#counts.size >= maxKeys) return
    this.#counts.set(key, count + 1)
    this.#timer ??= setTimeout(() => void this.flush(), this.#delayMs).unref()
  }

  /** Writes the current counts; fulfilled after this and all earlier writes. Call it before the process ends. */
  flush(): Promise<void> {
    clearTimeout(this.#timer)
    this.#timer = undefined
    const counts = this.#counts
    this.#counts = new Map()
    if (counts.size > 0) this.#writing = this.#writing.then(() => this.#write(counts))
    return this.#writing
  }
}
